import { createHash } from "node:crypto";
import { Batch, type BatchData } from "../../model/batch.js";
import { compareColumns, type Differences, type RowRange } from "./compare-columns.js";
import { compareGeometries } from "./compare-geometries.js";
import type { DifferenceCollector } from "./differences.js";
import { type ProofColumn, proofColumns } from "./proof-columns.js";
import type { ProofRowEncoder } from "./proof-row.js";
import { idRules, type ProofRules } from "./proof-rules.js";
import type { ProofSide } from "./proof-side.js";

/** Columns with the same name, or in the same position. */
type ColumnPair = readonly [written: ProofColumn | null, read: ProofColumn | null];

function pairColumns(written: Batch, read: Batch, rules: ProofRules): ColumnPair[] {
  const others = new Map(proofColumns(read, rules).map((column) => [column.name, column]));
  const pairs = proofColumns(written, rules).map((column): ColumnPair => {
    const other = others.get(column.name) ?? null;
    others.delete(column.name);
    return [column, other];
  });
  return [...pairs, ...[...others.values()].map((column): ColumnPair => [null, column])];
}

/** Compares features that are read back with those that were written, in their order, batch by batch. */
export class OrderedComparison {
  /** Features that differ, are missing, or were not written. */
  changed = 0;
  /** Rows so far. */
  private rows = 0;
  private readonly readDifferences = createHash("sha256");

  constructor(
    private readonly written: ProofSide,
    private readonly encoder: ProofRowEncoder,
    private readonly collector: DifferenceCollector,
  ) {}

  add(data: BatchData): void {
    const read = new Batch(data);
    for (let readFrom = 0; readFrom < read.length; ) {
      if (this.rows >= this.written.rows) {
        for (; readFrom < read.length; readFrom++) this.addUnexpected(read, readFrom);
        return;
      }
      const { batch, row: from } = this.written.rowAt(this.rows);
      const count = Math.min(batch.length - from, read.length - readFrom);
      this.compareRange(batch, read, { from, readFrom, count });
      this.rows += count;
      readFrom += count;
    }
  }

  private addUnexpected(read: Batch, row: number): void {
    this.rows++;
    this.changed++;
    this.hashDifference(this.rows, this.encoder.digests(read.take(Uint32Array.of(row))));
    this.collector.addUnexpected(this.rows);
  }

  private compareRange(written: Batch, read: Batch, range: RowRange): void {
    const { rules } = this.encoder;
    const differences: Differences = new Uint8Array(range.count);
    compareGeometries(written.geometry, read.geometry, range, rules, differences);
    for (const [one, other] of pairColumns(written, read, rules)) compareColumns(one, other, range, rules, differences);
    if (rules.withIds) this.compareIds(written, read, range, differences);
    if (!differences.includes(1)) return;
    for (let n = 0; n < range.count; n++) {
      if (differences[n] === 0) continue;
      const [row, readRow] = [range.from + n, range.readFrom + n];
      const feature = this.rows + n + 1;
      this.changed++;
      this.hashDifference(feature, this.encoder.digests(read.take(Uint32Array.of(readRow))));
      this.collector.compare({ feature, written: { batch: written, row }, read: { batch: read, row: readRow } });
    }
  }

  private compareIds({ ids }: Batch, { ids: others }: Batch, range: RowRange, differences: Differences): void {
    const { idsAsText } = this.encoder.rules;
    const asColumn = (column: Batch["ids"]): ProofColumn | null =>
      column && { name: "", bytes: new Uint8Array(), column, writtenType: null };
    if (!idsAsText) {
      compareColumns(asColumn(ids), asColumn(others), range, idRules, differences);
      return;
    }
    const textOf = (column: Batch["ids"], row: number) =>
      column === null ? null : Buffer.from(this.encoder.id(column, row)).toString("latin1");
    for (let n = 0; n < range.count; n++)
      if (textOf(ids, range.from + n) !== textOf(others, range.readFrom + n)) differences[n] = 1;
  }

  private hashDifference(feature: number, digest: Buffer | null): void {
    this.readDifferences.update(Buffer.from(Float64Array.of(feature).buffer));
    if (digest) this.readDifferences.update(digest);
  }

  /** Compares the numbers of features, after the last batch. */
  finish(): void {
    for (; this.rows < this.written.rows; this.rows++) {
      this.changed++;
      this.hashDifference(this.rows + 1, null);
      this.collector.addMissing(this.rows + 1);
    }
  }

  /**
   * The hash of what was read back: that of what was written if all features are equal, or else the SHA-256 of this hash and
   * the features that differ; only once.
   */
  readHash(writtenHash: string): string {
    if (this.changed === 0) return writtenHash;
    const differences = this.readDifferences.digest();
    return createHash("sha256").update(writtenHash, "hex").update(differences).digest("hex");
  }
}
