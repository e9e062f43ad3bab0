/** The canonical form of the rows of a batch, in bytes: equal for features that the rules treat as equal. */
import type { Batch } from "../model/batch.js";
import type { Column } from "../model/column.js";
import type { GeometryColumn } from "../model/geometry.js";
import { ByteWriter } from "./byte-writer.js";
import { writeValue } from "./canonical-value.js";
import { type GeometryVisitor, visitGeometry } from "./normalize-geometry.js";
import { type ComparisonRules, comparisonOf, type FieldComparison, heightDecimals, isComparedField } from "./rules.js";

interface ComparedColumn {
  readonly name: string;
  /** The name in UTF-8. */
  readonly bytes: Uint8Array;
  readonly column: Column;
  readonly comparison: FieldComparison;
}

/** The compared columns of a batch, by name (by UTF-16 code units). */
export function comparedColumns({ fields, columns }: Batch, rules: ComparisonRules): ComparedColumn[] {
  return fields
    .flatMap(({ name }, f) =>
      isComparedField(rules, name)
        ? [{ name, bytes: Buffer.from(name), column: columns[f]!, comparison: comparisonOf(rules, name) }]
        : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Rounds coordinates to whole units of the last decimal. */
class GeometryEncoder implements GeometryVisitor {
  private readonly scale: number;
  private readonly heightScale = 10 ** heightDecimals;

  /** @param offset 0.5 rounds to the nearest unit; 0 rounds down, which separates other pairs of close numbers */
  constructor(
    private readonly writer: ByteWriter,
    private readonly rules: ComparisonRules,
    private readonly offset: number,
  ) {
    this.scale = 10 ** rules.decimals;
  }

  geometry(kind: number, count: number): void {
    this.writer.byte(kind);
    this.writer.count(count);
  }

  part(count: number): void {
    this.writer.count(count);
  }

  ring({ xy, z, m }: GeometryColumn, from: number, to: number, reversed: boolean): void {
    const { writer, scale, offset, heightScale, rules } = this;
    const hasZ = !rules.ignoresHeights && hasNumber(z, from, to);
    const hasM = !rules.ignoresMeasures && hasNumber(m, from, to);
    writer.count(to - from);
    writer.byte((hasZ ? 1 : 0) | (hasM ? 2 : 0));
    const step = reversed ? -1 : 1;
    for (let n = from, k = reversed ? to - 1 : from; n < to; n++, k += step) {
      writer.double(Math.floor(xy[2 * k]! * scale + offset));
      writer.double(Math.floor(xy[2 * k + 1]! * scale + offset));
      if (hasZ) writer.double(Math.floor(z![k]! * heightScale + offset));
      if (hasM) writer.double(m![k]!);
    }
  }
}

/** Whether any of the values is a number. */
export function hasNumber(values: Float64Array | null, from: number, to: number): boolean {
  if (values === null) return false;
  for (let k = from; k < to; k++) if (!Number.isNaN(values[k]!)) return true;
  return false;
}

/** What of a row is encoded. */
export type RowPart = "feature" | "geometry" | "attributes";

/** Encodes rows; the bytes are valid until the next call. */
export class RowEncoder {
  private readonly writer = new ByteWriter();
  private readonly nearest: GeometryEncoder;
  private readonly down: GeometryEncoder;
  private batch: Batch | null = null;
  private columns: readonly ComparedColumn[] = [];

  constructor(private readonly rules: ComparisonRules) {
    this.nearest = new GeometryEncoder(this.writer, rules, 0.5);
    this.down = new GeometryEncoder(this.writer, rules, 0);
  }

  /** @param roundsDown rounds coordinates down instead of to the nearest unit */
  encode(batch: Batch, row: number, part: RowPart = "feature", roundsDown = false): Uint8Array {
    const { writer, rules } = this;
    if (batch !== this.batch) {
      this.batch = batch;
      this.columns = comparedColumns(batch, rules);
    }
    writer.reset();
    if (part !== "attributes") visitGeometry(batch.geometry, row, roundsDown ? this.down : this.nearest);
    if (part !== "geometry") this.writeAttributes(row);
    if (part === "feature" && rules.withIds && batch.ids) writeValue(writer, batch.ids, row, "text", rules);
    return writer.written;
  }

  private writeAttributes(row: number): void {
    const { writer, rules } = this;
    for (const { bytes, column, comparison } of this.columns) {
      const start = writer.length;
      writer.bytes(bytes, 0, bytes.length);
      if (!writeValue(writer, column, row, comparison, rules)) writer.length = start;
    }
  }
}
