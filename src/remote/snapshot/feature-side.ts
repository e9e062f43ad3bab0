import { closeSync, openSync, readSync } from "node:fs";
import type { Database, Statement } from "better-sqlite3";
import type { Properties, RemoteKey } from "../wire.js";

/** Where the text of a feature lies: bytes of one of the files of its side. */
export interface TextLocation {
  readonly file: number;
  readonly start: number;
  readonly length: number;
}

/** A feature as it is known before its text is parsed again. */
export interface FeatureRow extends TextLocation {
  /** The service's id of the feature, or the one that a source gives; null where it gives none. */
  readonly id: string | null;
  /** The page of the map it was read from, counted from 1; 0 for a source. */
  readonly page: number;
  /** The number of `Kind` (src/model/geometry.ts) of its geometry. */
  readonly kind: number;
  /** `digestOf` its canonical text. */
  readonly digest: string;
  /** `digestOf` what it says exactly; null where it was not read for that, so that nothing is known to be equal to it. */
  readonly exact?: string | null;
}

export interface KeyedRow extends FeatureRow {
  readonly exact: string | null;
  /** Order in which it was read, from 1. */
  readonly seq: number;
  /** The key as text, by which keys are compared; null where it has none. */
  readonly key: string | null;
  /** Whether the key is a number where it comes from. */
  readonly numeric: 0 | 1;
}

/** What a side is told of its keys before its features are added, where it is known which property they are. */
export interface KeyReader {
  readonly property: string;
  /** Null where the property is no key. */
  read(properties: Properties | null): RemoteKey | null;
}

/** The key in the type that it has where the row comes from. */
export const rowKey = ({ key, numeric }: Pick<KeyedRow, "key" | "numeric">): RemoteKey | null =>
  key !== null && numeric === 1 ? Number(key) : key;

export const sideNames = ["source", "map"] as const;
export type SideName = (typeof sideNames)[number];

/** Columns of a `SideRow`, then those of its key. No index: who joins by a column makes one, once it is full. */
export const createTableSql = (name: SideName): string => `CREATE TABLE ${name} (
  seq INTEGER PRIMARY KEY, id TEXT, page INTEGER NOT NULL, kind INTEGER NOT NULL, file INTEGER NOT NULL,
  start INTEGER NOT NULL, length INTEGER NOT NULL, digest TEXT NOT NULL, exact TEXT, key TEXT, numeric INTEGER NOT NULL DEFAULT 0)`;

/** Bytes that are read at once where texts are asked for in their order, and how far apart they may stand then. */
const readAheadBytes = 1 << 17;
const maxReadAheadGap = 1 << 12;

const keyText = (key: RemoteKey | null): string | null => (key === null ? null : String(key));
const numericFlag = (key: RemoteKey | null): 0 | 1 => (typeof key === "number" ? 1 : 0);

/**
 * The features of one side of a comparison, source or map: their texts are lines of files, and a table says where each
 * lies and what it is compared by. Nothing of it is kept in memory.
 */
export class FeatureSide implements Disposable {
  private readonly insert: Statement;
  private readonly update: Statement;
  /** The property that was read into the keys of all features as they were added; null where none was. */
  keyedBy: string | null = null;
  private readonly paths: string[] = [];
  private readonly handles: (number | undefined)[] = [];
  /** Bytes of a file as they were read last: texts are mostly asked for one after the other. */
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

  /** @returns what `file` of a row says of texts in this file */
  addFile(path: string): number {
    return this.paths.push(path) - 1;
  }

  add({ id, page, kind, file, start, length, digest, exact = null }: FeatureRow, key: RemoteKey | null = null): void {
    this.insert.run(id, page, kind, file, start, length, digest, exact, keyText(key), numericFlag(key));
  }

  setKey(seq: number, key: RemoteKey | null): void {
    this.update.run(keyText(key), numericFlag(key), seq);
  }

  /** Forgets all features, keys and files; what lies in the files is the caller's to remove. */
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

  /** All rows in the order of reading. Others may be written meanwhile: they are fetched a thousand at a time. */
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

  /** Reads a text, and ahead of it where it stands soon behind those that were read before. */
  private fetch(file: number, start: number, length: number): void {
    const { block } = this;
    this.handles[file] ??= openSync(this.paths[file]!, "r");
    const follows = file === block.file && start >= block.start && start <= block.end + maxReadAheadGap;
    const wanted = Math.max(length, follows ? readAheadBytes : 0);
    if (wanted > block.bytes.length) block.bytes = Buffer.allocUnsafe(Math.max(wanted, readAheadBytes));
    let filled = 0;
    while (filled < length) {
      const read = readSync(this.handles[file], block.bytes, filled, wanted - filled, start + filled);
      if (read === 0) throw new Error(`${this.paths[file]} ends before byte ${start + length}`);
      filled += read;
    }
    Object.assign(block, { file, start, end: start + filled });
  }

  [Symbol.dispose](): void {
    for (const handle of this.handles.splice(0)) if (handle !== undefined) closeSync(handle);
  }
}
