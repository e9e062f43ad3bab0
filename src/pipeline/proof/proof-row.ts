/**
 * The canonical form of a feature for verifications. Unlike that of comparisons between formats, it keeps everything that
 * the target has promised to hold: kinds of geometry, null and absent, texts byte by byte.
 */
import { ByteWriter } from "../../canonical/byte-writer.js";
import { hasNumber } from "../../canonical/canonical-row.js";
import { type GeometryVisitor, visitGeometry } from "../../canonical/normalize-geometry.js";
import type { Batch } from "../../model/batch.js";
import type { Column } from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { hashColumn, hashGeometries, hashIds } from "./hash-batch.js";
import { writeCell, writeId } from "./proof-cell.js";
import { type ProofColumn, proofColumns } from "./proof-columns.js";
import type { ProofRules } from "./proof-rules.js";
import { RowHashes } from "./row-hashes.js";
import { unitsOf } from "./units-of.js";

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
    const { rules, writer } = this;
    const hashes = new RowHashes(batch.length);
    hashGeometries(hashes, batch.geometry, rules);
    for (const column of proofColumns(batch, rules)) hashColumn(hashes, column, rules, writer);
    if (rules.withIds && batch.ids) hashIds(hashes, batch.ids, rules.idsAsText, writer);
    return hashes.finish();
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
    writeId(this.writer, column, row, this.rules.idsAsText);
    return this.writer.written;
  }
}
