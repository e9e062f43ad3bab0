import { createError } from "../../../src/plugin/index.js";
import type { Database, Statement } from "../../../src/sqlite/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { decodeValues, type SqliteValue } from "../sqlite/values.js";
import type { GeoPackageChunk } from "../write/encoder.js";

export interface InsertTarget {
  /** Name of the file, for messages. */
  readonly output: string;
  readonly table: string;
  /** Names of the columns in the order of the records: rowid, geometry (if any), fields. */
  readonly columns: readonly string[];
  /** The R-tree to update; null if there is none or a trigger updates it. */
  readonly rtree: string | null;
  /** srs_id to set in geometries; null if they have it already. */
  readonly srsId: number | null;
}

export const idChangedMessage = "an id that another feature has was changed";

/** Inserts rows by SQL: for tables that have rows already and for ids that do not ascend. */
export class RowInserter {
  private readonly insert: Statement;
  private readonly index: Statement | null;
  /** Rows that got a new id because theirs was taken. */
  private renumbered = 0;

  constructor(
    database: Database,
    private readonly target: InsertTarget,
  ) {
    const { table, columns, rtree } = target;
    const places = columns.map(() => "?").join(", ");
    this.insert = database.prepare(
      `INSERT INTO ${quoteIdentifier(table)} (${columns.map(quoteIdentifier).join(", ")}) VALUES (${places})`,
    );
    this.index =
      rtree === null ? null : database.prepare(`INSERT INTO ${quoteIdentifier(rtree)} VALUES (?, ?, ?, ?, ?)`);
  }

  /** Adds the rows of a chunk from row `first` on. @returns how many got a new id because theirs was taken */
  add(chunk: GeoPackageChunk, first: number): number {
    const before = this.renumbered;
    const { records, offsets, ids, hasRequestedId, boxes, rows } = chunk;
    const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
    const record = { high: 0, low: 0, bytes, from: 0, to: 0 };
    for (let row = first; row < rows; row++) {
      record.from = offsets[row]!;
      record.to = offsets[row + 1]!;
      const values = decodeValues(record, "utf8", true);
      if (this.target.srsId !== null && values[1] instanceof Uint8Array) this.setSrsId(values[1]);
      const rowid = this.put(values, ids && hasRequestedId![row] === 1 ? ids[row]! : null);
      if (!this.index || !boxes || !(boxes[4 * row]! <= boxes[4 * row + 2]!)) continue;
      this.index.run(rowid, boxes[4 * row], boxes[4 * row + 2], boxes[4 * row + 1], boxes[4 * row + 3]);
    }
    return this.renumbered - before;
  }

  private setSrsId(blob: Uint8Array): void {
    new DataView(blob.buffer, blob.byteOffset).setInt32(4, this.target.srsId!, true);
  }

  private put(values: SqliteValue[], id: bigint | null): number | bigint {
    values[0] = id;
    try {
      const { changes, lastInsertRowid } = this.insert.run(values);
      if (changes === 1) return lastInsertRowid;
    } catch (error) {
      const { code } = error as { code?: string };
      const isTaken = code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "SQLITE_CONSTRAINT_ROWID";
      if (id === null || !isTaken) throw this.toInsertError(error as Error);
      return this.putWithNewId(values);
    }
    // RAISE(IGNORE) in a trigger
    const { output, table } = this.target;
    throw createError("rows-not-taken", { output, table, sent: 1, taken: 0 });
  }

  private putWithNewId(values: SqliteValue[]): number | bigint {
    this.renumbered++;
    return this.put(values, null);
  }

  /** Adds a remedy to NOT NULL failures; returns other errors unchanged. */
  private toInsertError(error: Error): Error {
    const column = /^NOT NULL constraint failed: .*\.([^.]*)$/s.exec(error.message)?.[1];
    if (column === undefined) return error;
    const { output, table } = this.target;
    const reason = `the column "${column}" of "${table}" must have a value (NOT NULL), and a feature has none; leave such features out, with --geometry-type where it is the geometry, else with --where`;
    return createError("unsupported", { source: output, reason }, error);
  }
}
