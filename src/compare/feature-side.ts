import { closeSync, openSync, readSync } from "node:fs";
import type { Database, Statement } from "../sqlite/index.js";

/** A property value that identifies a feature: a non-empty text or a safe integer. */
export type FeatureKey = string | number;

/** Location of a feature's text: a byte range in one of the files of its side. */
export interface TextLocation {
  readonly file: number;
  readonly start: number;
  readonly length: number;
}

/** The data of a feature that is available without parsing its text again. */
export interface FeatureRow extends TextLocation {
  /** The id that the service or the source gives the feature; null if the source gives none. */
  readonly id: string | null;
  /** The page of the map, counted from 1; 0 for a source. For a spooled batch: the row in it. */
  readonly page: number;
  /** The number of `Kind` (src/model/geometry.ts) of its geometry. */
  readonly kind: number;
  /** `digestText` of the canonical text. */
  readonly digest: string;
  /** `digestText` of the exact canonical text; null if it was not computed, which then equals no other feature. */
  readonly exact?: string | null;
}

export interface KeyedRow extends FeatureRow {
  readonly exact: string | null;
  /** Position in reading order, from 1. */
  readonly seq: number;
  /** The key as text, used for comparisons; null if the feature has none. */
  readonly key: string | null;
  /** Whether the original key is a number. */
  readonly numeric: 0 | 1;
}

/** Reads keys while features are added, if the key property is already known. */
export interface KeyReader {
  readonly property: string;
  /** Returns null if the property is not a valid key. */
  read(properties: Readonly<Record<string, unknown>> | null): FeatureKey | null;
}

/** The key in its original type. */
export const rowKey = ({ key, numeric }: Pick<KeyedRow, "key" | "numeric">): FeatureKey | null =>
  key !== null && numeric === 1 ? Number(key) : key;

export const sideNames = ["source", "map"] as const;
export type SideName = (typeof sideNames)[number];

/** Creates the columns of a `KeyedRow`. It has no index: callers create one when the table is full. */
export const createTableSql = (name: SideName): string => `CREATE TABLE ${name} (
  seq INTEGER PRIMARY KEY, id TEXT, page INTEGER NOT NULL, kind INTEGER NOT NULL, file INTEGER NOT NULL,
  start INTEGER NOT NULL, length INTEGER NOT NULL, digest TEXT NOT NULL, exact TEXT, key TEXT, numeric INTEGER NOT NULL DEFAULT 0)`;

/** Bytes per sequential read, and the maximum gap between texts that still counts as sequential. */
const readAheadBytes = 1 << 17;
const maxReadAheadGap = 1 << 12;

const keyText = (key: FeatureKey | null): string | null => (key === null ? null : String(key));
const numericFlag = (key: FeatureKey | null): 0 | 1 => (typeof key === "number" ? 1 : 0);

/**
 * The features of one side of a comparison, source or map. The texts are lines of files; a table holds their locations
 * and comparison values. Nothing is kept in memory.
 */
export class FeatureSide implements Disposable {
  private readonly insert: Statement;
  private readonly update: Statement;
  /** The property that supplied the keys as features were added; null if none did. */
  keyedBy: string | null = null;
  private readonly paths: string[] = [];
  private readonly handles: (number | undefined)[] = [];
  /** The last bytes read from a file: texts are mostly requested in order. */
  private readonly block = { bytes: Buffer.alloc(0), file: -1, start: 0, end: 0 };

  constructor(
    readonly database: Database,
    readonly name: SideName,
  ) {
    this.insert = database.prepare(
      `INSERT INTO ${name} (id, page, kind, file, start, length, digest, exact, key, numeric)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.update = database.prepare(`UPDATE ${name} SET key = ?, numeric = ? WHERE seq = ?`);
  }

  /** @returns the number for `file` of rows with texts in this file */
  addFile(path: string): number {
    return this.paths.push(path) - 1;
  }

  add({ id, page, kind, file, start, length, digest, exact = null }: FeatureRow, key: FeatureKey | null = null): void {
    this.insert.run(id, page, kind, file, start, length, digest, exact, keyText(key), numericFlag(key));
  }

  setKey(seq: number, key: FeatureKey | null): void {
    this.update.run(keyText(key), numericFlag(key), seq);
  }

  /** Removes all features, keys and files; the caller deletes the files from disk. */
  clear(): void {
    this.database.exec(`DELETE FROM ${this.name}`);
    this[Symbol.dispose]();
    this.block.file = -1;
    this.paths.length = 0;
    this.keyedBy = null;
  }

  get count(): number {
    return this.database.prepare(`SELECT count(*) FROM ${this.name}`).pluck().get() as number;
  }

  /** All rows in reading order. Rows may be written meanwhile: the iterator fetches a thousand at a time. */
  *rows(): Generator<KeyedRow> {
    const next = this.database.prepare(`SELECT * FROM ${this.name} WHERE seq > ? ORDER BY seq LIMIT 1000`);
    for (let last = 0; ; ) {
      const rows = next.all(last) as KeyedRow[];
      yield* rows;
      if (rows.length < 1000) return;
      last = rows.at(-1)!.seq;
    }
  }

  /** The JSON text of a feature. */
  textOf({ file, start, length }: TextLocation): string {
    const { block } = this;
    if (file !== block.file || start < block.start || start + length > block.end) this.fetch(file, start, length);
    const from = start - block.start;
    return block.bytes.toString("utf8", from, from + length);
  }

  /** Reads a text, and further bytes ahead if access is sequential. */
  private fetch(file: number, start: number, length: number): void {
    const { block } = this;
    this.handles[file] ??= openSync(this.paths[file]!, "r");
    const follows = file === block.file && start >= block.start && start <= block.end + maxReadAheadGap;
    const readLength = Math.max(length, follows ? readAheadBytes : 0);
    if (readLength > block.bytes.length) block.bytes = Buffer.allocUnsafe(Math.max(readLength, readAheadBytes));
    let bytesRead = 0;
    while (bytesRead < length) {
      const read = readSync(this.handles[file], block.bytes, bytesRead, readLength - bytesRead, start + bytesRead);
      if (read === 0) throw new Error(`${this.paths[file]} ends before byte ${start + length}`);
      bytesRead += read;
    }
    Object.assign(block, { file, start, end: start + bytesRead });
  }

  [Symbol.dispose](): void {
    for (const handle of this.handles.splice(0)) if (handle !== undefined) closeSync(handle);
  }
}
