/**
 * The canonical form of a feature for verifications. Unlike that of comparisons between formats, it keeps everything that
 * the target has promised to hold: kinds of geometry, null and absent, texts byte by byte.
 */
import { hash } from "node:crypto";
import { ByteWriter } from "../../canonical/byte-writer.js";
import { hasNumber } from "../../canonical/canonical-row.js";
import { digestBytes } from "../../canonical/digest-file.js";
import { type GeometryVisitor, visitGeometry } from "../../canonical/normalize-geometry.js";
import type { Batch } from "../../model/batch.js";
import type { Column } from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { writeCell } from "./proof-cell.js";
import type { ProofRules } from "./proof-rules.js";

/** Rounds as writers do: the exact value, halves away from zero. Returns whole units of the last decimal. */
function unitsOf(value: number, decimals: number | null, scale: number): number {
  if (decimals === null) return value;
  const size = Math.abs(value) * scale;
  // A double of this size has no more decimals.
  if (!(size < 2 ** 51)) return value;
  const below = Math.floor(size);
  // The product has an error of its own, so that a value near a half is rounded from its exact decimals.
  const isNearHalf = Math.abs(size - below - 0.5) < 1e-6 + size * 2 ** -50;
  const whole = isNearHalf ? Math.round(Number(Math.abs(value).toFixed(decimals)) * scale) : Math.floor(size + 0.5);
  return value < 0 ? -whole : whole;
}

class GeometryWriter implements GeometryVisitor {
  private readonly scale: number;
  private readonly heightScale: number;

  constructor(
    private readonly writer: ByteWriter,
    private readonly rules: ProofRules,
  ) {
    const { xy, z } = rules.decimals;
    this.scale = 10 ** (xy ?? 0);
    this.heightScale = 10 ** (z ?? 0);
  }

  geometry(kind: number, count: number): void {
    this.writer.byte(kind);
    this.writer.count(count);
  }

  part(count: number): void {
    this.writer.count(count);
  }

  ring({ xy, z, m }: GeometryColumn, from: number, to: number, reversed: boolean): void {
    const { writer, scale, heightScale } = this;
    const { xy: decimals, z: heightDecimals } = this.rules.decimals;
    const hasZ = hasNumber(z, from, to);
    const hasM = hasNumber(m, from, to);
    writer.count(to - from);
    writer.byte((hasZ ? 1 : 0) | (hasM ? 2 : 0));
    const step = reversed ? -1 : 1;
    for (let n = from, k = reversed ? to - 1 : from; n < to; n++, k += step) {
      writer.double(unitsOf(xy[2 * k]!, decimals, scale));
      writer.double(unitsOf(xy[2 * k + 1]!, decimals, scale));
      if (hasZ) writer.double(unitsOf(z![k]!, heightDecimals, heightScale));
      if (hasM) writer.double(m![k]!);
    }
  }
}

/** A column of a batch, in the order of the canonical form. */
export interface ProofColumn {
  /** The name; the position if the file has no names. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly column: Column;
  /** The type that was written; null if it is that of the column. */
  readonly writtenType: FieldType | null;
}

/** The columns of a batch by name (by UTF-16 code units). */
export function proofColumns({ fields, columns }: Batch, rules: ProofRules): ProofColumn[] {
  return fields
    .map((field, f): ProofColumn => {
      const name = rules.byPosition ? String(f) : field.name;
      const types = rules.writtenTypes ?? {};
      const writtenType = rules.byPosition
        ? (Object.values(types)[f] ?? null)
        : Object.hasOwn(types, name)
          ? types[name]!
          : null;
      return { name, bytes: Buffer.from(name), column: columns[f]!, writtenType };
    })
    .filter(({ name }) => !rules.ignoredFields.includes(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Encodes features and their parts. Bytes are valid until the next call. */
export class ProofRowEncoder {
  private readonly writer = new ByteWriter();
  private readonly shapes: GeometryWriter;
  private batch: Batch | null = null;
  private columns: readonly ProofColumn[] = [];

  constructor(readonly rules: ProofRules) {
    this.shapes = new GeometryWriter(this.writer, rules);
  }

  /** One digest of `digestBytes` for each row. */
  digests(batch: Batch): Buffer {
    const digests = Buffer.allocUnsafeSlow(batch.length * digestBytes);
    for (let row = 0; row < batch.length; row++)
      digests.write(hash("sha256", this.feature(batch, row), "binary"), row * digestBytes, digestBytes, "latin1");
    return digests;
  }

  private feature(batch: Batch, row: number): Uint8Array {
    const { writer, rules } = this;
    writer.reset();
    this.writeGeometry(batch, row);
    this.writeAttributes(batch, row);
    if (rules.withIds && batch.ids) writeCell(writer, batch.ids, row, null, idRules);
    return writer.written;
  }

  private writeGeometry({ geometry }: Batch, row: number): void {
    // The visitor takes a multi-geometry of one part for that part, and one without positions for none.
    if (!this.rules.singleIsMulti) this.writer.byte(geometry.kinds[row]!);
    visitGeometry(geometry, row, this.shapes);
  }

  private writeAttributes(batch: Batch, row: number): void {
    const { writer, rules } = this;
    if (batch !== this.batch) {
      this.batch = batch;
      this.columns = proofColumns(batch, rules);
    }
    for (const { bytes, column, writtenType } of this.columns) {
      const start = writer.length;
      writer.bytes(bytes, 0, bytes.length);
      if (!writeCell(writer, column, row, writtenType, rules)) writer.length = start;
    }
  }

  geometry(batch: Batch, row: number): Buffer {
    this.writer.reset();
    this.writeGeometry(batch, row);
    return this.writer.written;
  }

  attributes(batch: Batch, row: number): Buffer {
    this.writer.reset();
    this.writeAttributes(batch, row);
    return this.writer.written;
  }

  cell(column: Column, row: number, writtenType: FieldType | null): Buffer {
    this.writer.reset();
    writeCell(this.writer, column, row, writtenType, this.rules);
    return this.writer.written;
  }

  id(column: Column, row: number): Buffer {
    this.writer.reset();
    writeCell(this.writer, column, row, null, idRules);
    return this.writer.written;
  }
}

/** Ids are numbers or texts, whichever type their column has. */
const idRules = { types: "value", absentIsNull: true } as const;
