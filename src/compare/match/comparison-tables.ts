/**
 * Queries for comparing the tables of both sides (src/compare/workspace.ts) and the table of rejected keys,
 * after `prepareKeys` has filled them.
 */

import { createError } from "../../errors.js";
import type { Database, Statement } from "../../sqlite/index.js";
import { type KeyedRow, type SideName, sideNames, type TextLocation } from "../feature-side.js";
import type { Workspace } from "../workspace.js";

/** A source feature and the map feature with the same key. */
export interface MatchedPair {
  readonly source: KeyedRow;
  readonly map: KeyedRow;
}

/** The needed columns of a feature that only one side has. */
export type UnmatchedRow = Pick<KeyedRow, keyof TextLocation | "seq" | "digest" | "key" | "numeric">;

/** A map feature that no update changes, with its relation to the source. */
export interface MapRowStatus extends KeyedRow {
  readonly matched: 0 | 1;
  /** The source's digest if a detailed comparison found both features equal despite different digests; else null. */
  readonly sent: string | null;
  /** Whether the map's feature has properties that the source lacks, which was no difference; null if `sent` is. */
  readonly keepsMapProperties: 0 | 1 | null;
  /** Whether a rejected source feature has its key. */
  readonly isSourceRejected: 0 | 1;
}

const rowColumns = ["seq", "id", "page", "kind", "file", "start", "length", "digest", "key", "numeric"] as const;
const prefixedColumns = (table: string): string =>
  rowColumns.map((name) => `${table}.${name} AS ${table}_${name}`).join(", ");

type JoinedRow = Readonly<Record<string, unknown>>;

const rowFromJoined = (joined: JoinedRow, table: string): KeyedRow =>
  Object.fromEntries(rowColumns.map((name) => [name, joined[`${table}_${name}`]])) as unknown as KeyedRow;

/** Rows per query: others may be written between queries. */
const fetchSize = 1000;

export class ComparisonTables {
  private readonly database: Database;
  private readonly insertChanged: Statement;
  private readonly insertEquivalent: Statement;

  /** @throws internal if a side has duplicate keys */
  constructor({ database }: Workspace) {
    this.database = database;
    database.exec(`
      CREATE INDEX IF NOT EXISTS source_key ON source (key);
      CREATE INDEX IF NOT EXISTS map_key ON map (key);
      DROP TABLE IF EXISTS temp.changed;
      DROP TABLE IF EXISTS temp.equivalent;
      CREATE TEMP TABLE changed (map INTEGER PRIMARY KEY);
      CREATE TEMP TABLE equivalent (map INTEGER PRIMARY KEY, sent TEXT NOT NULL, keeps INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS rejected (key TEXT PRIMARY KEY) WITHOUT ROWID;`);
    for (const side of sideNames) this.checkKeysUnique(side);
    this.insertChanged = database.prepare("INSERT INTO changed VALUES (?)");
    this.insertEquivalent = database.prepare("INSERT INTO equivalent VALUES (?, ?, ?)");
  }

  /** Features on both sides with different digests, in source order. */
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

  /** Number of features on both sides. */
  get matchedCount(): number {
    return this.queryNumber("SELECT count(*) FROM source JOIN map ON map.key = source.key");
  }

  /** Features that only the source has, in source order. */
  *findOnlyInSource(): Generator<UnmatchedRow> {
    yield* this.queryPages<UnmatchedRow>(
      "source",
      `SELECT seq, file, start, length, digest, key, numeric FROM source WHERE seq > ?
       AND NOT EXISTS (SELECT 1 FROM map WHERE map.key = source.key)`,
    );
  }

  /** Features that only the map has, in map order. */
  *findOnlyOnMap(): Generator<UnmatchedRow> {
    yield* this.queryPages<UnmatchedRow>(
      "map",
      `SELECT seq, file, start, length, digest, key, numeric FROM map WHERE seq > ?
       AND NOT EXISTS (SELECT 1 FROM source WHERE source.key = map.key)`,
    );
  }

  /** Marks a map feature that an update changes. */
  markChanged(map: KeyedRow): void {
    this.insertChanged.run(map.seq);
  }

  /** Marks a map feature that equals the source feature despite a different digest. */
  markEquivalent(map: KeyedRow, sent: string, keepsMapProperties: boolean): void {
    this.insertEquivalent.run(map.seq, sent, keepsMapProperties ? 1 : 0);
  }

  /** Map features that no update changes, in map order: the candidates for deletion. */
  *findNotUpdated(): Generator<MapRowStatus> {
    yield* this.queryPages<MapRowStatus>(
      "map",
      `SELECT map.*, equivalent.sent AS sent, equivalent.keeps AS keepsMapProperties,
         EXISTS (SELECT 1 FROM source WHERE source.key = map.key) AS matched,
         EXISTS (SELECT 1 FROM rejected WHERE rejected.key = map.key) AS isSourceRejected
       FROM map LEFT JOIN equivalent ON equivalent.map = map.seq
       WHERE map.seq > ? AND NOT EXISTS (SELECT 1 FROM changed WHERE changed.map = map.seq)`,
    );
  }

  /** Guards against duplicate keys, which earlier checks exclude: duplicate pairs would corrupt the plan. */
  private checkKeysUnique(side: SideName): void {
    const twice = `SELECT key FROM ${side} WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1 LIMIT 1`;
    const key = this.database.prepare(twice).pluck().get();
    if (key !== undefined) throw createError("internal", { reason: `duplicate key ${String(key)} in the ${side}` });
  }

  private queryNumber(sql: string): number {
    return this.database.prepare(sql).pluck().get() as number;
  }

  /** @param sql has one parameter: the last `seq` seen */
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
