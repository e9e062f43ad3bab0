/**
 * The questions that a comparison asks of the tables of both sides (src/remote/snapshot/workspace.ts) and of that of the keys of
 * rejected features, once `checkKeys` has filled them.
 */
import type { Database, Statement } from "better-sqlite3";
import { createError } from "../../errors.js";
import { type KeyedRow, type SideName, sideNames, type TextLocation } from "../../remote/snapshot/feature-side.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";

/** A feature of the source and the one of the map that has its key. */
export interface MatchedPair {
  readonly source: KeyedRow;
  readonly map: KeyedRow;
}

/** A feature that only the source has, as far as it is looked at. */
export type UnmatchedSourceRow = Pick<KeyedRow, keyof TextLocation | "seq" | "digest" | "key" | "numeric">;

/** A feature of the map that the source does not have, or has too. */
export interface MapRowStatus extends KeyedRow {
  readonly matched: 0 | 1;
  /** The same by its digest or after a closer look, with the source's digest; null where that says nothing new. */
  readonly sent: string | null;
  /** A rejected feature has its key. */
  readonly protected: 0 | 1;
}

const rowColumns = ["seq", "id", "page", "kind", "file", "start", "length", "digest", "key", "numeric"] as const;
const prefixedColumns = (table: string): string =>
  rowColumns.map((name) => `${table}.${name} AS ${table}_${name}`).join(", ");

type JoinedRow = Readonly<Record<string, unknown>>;

const rowFromJoined = (joined: JoinedRow, table: string): KeyedRow =>
  Object.fromEntries(rowColumns.map((name) => [name, joined[`${table}_${name}`]])) as unknown as KeyedRow;

/** Rows that are fetched at a time: others may be written meanwhile. */
const fetchSize = 1000;

export class ComparisonTables {
  private readonly database: Database;
  private readonly insertChanged: Statement;
  private readonly insertEquivalent: Statement;

  /** @throws internal where a key is on one side twice */
  constructor({ database }: Workspace) {
    this.database = database;
    database.exec(`
      CREATE INDEX IF NOT EXISTS source_key ON source (key);
      CREATE INDEX IF NOT EXISTS map_key ON map (key);
      DROP TABLE IF EXISTS temp.changed;
      DROP TABLE IF EXISTS temp.absorbed;
      CREATE TEMP TABLE changed (map INTEGER PRIMARY KEY);
      CREATE TEMP TABLE absorbed (map INTEGER PRIMARY KEY, sent TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS rejected (key TEXT PRIMARY KEY) WITHOUT ROWID;`);
    for (const side of sideNames) this.checkKeysUnique(side);
    this.insertChanged = database.prepare("INSERT INTO changed VALUES (?)");
    this.insertEquivalent = database.prepare("INSERT INTO absorbed VALUES (?, ?)");
  }

  /** Features that both sides have and whose digests differ, in the order of the source. */
  *findDiffering(): Generator<MatchedPair> {
    const select = this.database.prepare(
      `SELECT ${prefixedColumns("source")}, ${prefixedColumns("map")} FROM source CROSS JOIN map ON map.key = source.key
       WHERE source.seq > ? AND map.digest <> source.digest ORDER BY source.seq LIMIT ${fetchSize}`,
    );
    for (let last = 0; ; ) {
      const rows = select.all(last) as JoinedRow[];
      for (const row of rows) yield { source: rowFromJoined(row, "source"), map: rowFromJoined(row, "map") };
      if (rows.length < fetchSize) return;
      last = rows.at(-1)!.source_seq as number;
    }
  }

  /** Number of features that both sides have. */
  get matchedCount(): number {
    return this.queryNumber("SELECT count(*) FROM source JOIN map ON map.key = source.key");
  }

  /** Features that only the source has, in its order. */
  *findOnlyInSource(): Generator<UnmatchedSourceRow> {
    yield* this.queryPages<UnmatchedSourceRow>(
      "source",
      `SELECT seq, file, start, length, digest, key, numeric FROM source WHERE seq > ?
       AND NOT EXISTS (SELECT 1 FROM map WHERE map.key = source.key)`,
    );
  }

  /** Marks a feature of the map that an update changes. */
  markChanged(map: KeyedRow): void {
    this.insertChanged.run(map.seq);
  }

  /** Marks a feature of the map that is the same as the source's although their digests differ. */
  markEquivalent(map: KeyedRow, sent: string): void {
    this.insertEquivalent.run(map.seq, sent);
  }

  /** Features of the map that no update changes, in its order. */
  *findUnchanged(): Generator<MapRowStatus> {
    yield* this.queryPages<MapRowStatus>(
      "map",
      `SELECT map.*, absorbed.sent AS sent,
         EXISTS (SELECT 1 FROM source WHERE source.key = map.key) AS matched,
         EXISTS (SELECT 1 FROM rejected WHERE rejected.key = map.key) AS protected
       FROM map LEFT JOIN absorbed ON absorbed.map = map.seq
       WHERE map.seq > ? AND NOT EXISTS (SELECT 1 FROM changed WHERE changed.map = map.seq)`,
    );
  }

  /** Keys were checked before; a pair that is met twice would spoil what is not asked about. */
  private checkKeysUnique(side: SideName): void {
    const twice = `SELECT key FROM ${side} WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1 LIMIT 1`;
    const key = this.database.prepare(twice).pluck().get();
    if (key !== undefined) throw createError("internal", { reason: `the key ${String(key)} is twice in the ${side}` });
  }

  private queryNumber(sql: string): number {
    return this.database.prepare(sql).pluck().get() as number;
  }

  /** @param sql with one parameter, the last `seq` that was seen */
  private *queryPages<Row extends Pick<KeyedRow, "seq">>(table: string, sql: string): Generator<Row> {
    const select = this.database.prepare(`${sql} ORDER BY ${table}.seq LIMIT ${fetchSize}`);
    for (let last = 0; ; ) {
      const rows = select.all(last) as Row[];
      yield* rows;
      if (rows.length < fetchSize) return;
      last = rows.at(-1)!.seq;
    }
  }
}
