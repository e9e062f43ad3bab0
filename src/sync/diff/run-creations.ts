/** Finds the features on a map that a run created, using its backup. */

import type { KeyedRow } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { Database } from "../../sqlite/index.js";
import { shortDigestLength } from "../journal/backup.js";
import { isIdList, type OpenBackup } from "../journal/backup-reader.js";
import type { CurrentRows } from "./current-rows.js";

/** Rows per transaction. */
const writeBatchSize = 1000;

const tableDefinitions = `
  CREATE TABLE intended (key TEXT, digest TEXT NOT NULL);
  CREATE TABLE created (id TEXT PRIMARY KEY, seq INTEGER) WITHOUT ROWID;
  CREATE TABLE shown (id TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE undo (seq INTEGER PRIMARY KEY, is_as_left INTEGER NOT NULL)`;

/**
 * A map feature was created by the run if the run recorded its id, or the id that it had before later restores; or, if the
 * run was interrupted and may have missed the response, if it has a key that the run was about to create and that was not
 * on the map before. It is unchanged since the run if it has the content sent under its key (without keys, or by ids,
 * instead of which the service gave new ones: any content that was sent), or the content that the map showed right after
 * the run.
 */
const findCreatedSql = (ended: boolean, byId: boolean): string => `
  INSERT INTO undo SELECT map.seq,
    EXISTS (SELECT 1 FROM shown
      WHERE shown.id IN (SELECT map.id UNION ALL SELECT created.id FROM created WHERE created.seq = map.seq)
        AND shown.digest = substr(map.digest, 1, ${shortDigestLength})) OR
    EXISTS (SELECT 1 FROM intended WHERE intended.digest = substr(map.digest, 1, ${shortDigestLength})
      ${byId ? "" : "AND (intended.key IS NULL OR intended.key = map.key)"})
  FROM map WHERE map.seq NOT IN (SELECT seq FROM matched) AND (
    map.seq IN (SELECT seq FROM created WHERE seq IS NOT NULL)
    ${ended ? "" : "OR map.key IN (SELECT key FROM intended WHERE key IS NOT NULL)"})`;

/** A feature without a known id is as the run left it. */
const isAsIntendedSql = `EXISTS (SELECT 1 FROM intended WHERE intended.digest = substr(map.digest, 1, ${shortDigestLength})
  AND (intended.key IS NULL OR map.key IS NULL OR intended.key = map.key))`;

/**
 * Features with a key that the run created, although the map lacks the ids that it recorded: features that were deleted
 * and created again since, by a restore or by another client.
 */
const findKeyedSql = `
  INSERT INTO undo SELECT map.seq, ${isAsIntendedSql} FROM map
  WHERE map.key IN (SELECT key FROM intended WHERE key IS NOT NULL)
    AND map.seq NOT IN (SELECT seq FROM matched) AND map.seq NOT IN (SELECT seq FROM undo)`;

/** Features that a run created and that are still on the map. */
export class RunCreations {
  private constructor(
    private readonly database: Database,
    /** Features to delete: unchanged since the run. */
    readonly count: number,
    /** Features that were changed after the run, and stay. */
    readonly changed: number,
    /** Features without a key whose creation the run could not confirm. */
    readonly unknown: number,
    /** Features of which the map lacks the recorded ids. */
    readonly gone: number,
    /** Features to delete that only their key identifies, since the map lacks the recorded ids. */
    readonly renewed: number,
  ) {}

  /** @param workspace has keys on the map side, and a table `matched` of map features that match the backup */
  static async find(backup: OpenBackup, workspace: Workspace, rows: CurrentRows): Promise<RunCreations> {
    const { database } = workspace;
    database.exec(tableDefinitions);
    if (backup.creates + backup.features > 0) {
      await loadBackupEntries(backup, workspace, rows);
      database.exec("CREATE INDEX intended_digest ON intended (digest); CREATE INDEX intended_key ON intended (key)");
      database.exec(findCreatedSql(backup.isEnded, backup.header.key?.by === "id"));
    }
    const number = (sql: string) => database.prepare(sql).pluck().get() as number;
    const gone = number("SELECT count(*) FROM created WHERE seq IS NULL");
    const known = number("SELECT count(*) FROM undo WHERE is_as_left");
    if (gone > 0 && backup.isEnded && backup.header.key?.by === "property") database.exec(findKeyedSql);
    const unidentified = number("SELECT count(*) FROM intended WHERE key IS NULL");
    const unknown = backup.isEnded ? 0 : Math.max(0, unidentified - number("SELECT count(*) FROM created"));
    const changed = number("SELECT count(*) FROM undo WHERE NOT is_as_left");
    const count = number("SELECT count(*) FROM undo WHERE is_as_left");
    return new RunCreations(database, count, changed, unknown, gone, count - known);
  }

  /** The number of features with content that the run sent, without an explanation by ids; after `find`. */
  countEqual(): number {
    const sql = `SELECT count(*) FROM map WHERE seq NOT IN (SELECT seq FROM matched)
      AND seq NOT IN (SELECT seq FROM undo) AND ${isAsIntendedSql}`;
    return this.database.prepare(sql).pluck().get() as number;
  }

  /** The features to delete. */
  *findRows(): Generator<KeyedRow> {
    const next = this.database.prepare<[number], KeyedRow>(
      "SELECT map.* FROM undo JOIN map ON map.seq = undo.seq WHERE is_as_left AND undo.seq > ? ORDER BY undo.seq LIMIT 1",
    );
    for (let row = next.get(-1); row; row = next.get(row.seq)) yield row;
  }

  has({ seq }: Pick<KeyedRow, "seq">): boolean {
    return this.database.prepare("SELECT 1 FROM undo WHERE is_as_left AND seq = ?").get(seq) !== undefined;
  }
}

async function loadBackupEntries(backup: OpenBackup, workspace: Workspace, rows: CurrentRows): Promise<void> {
  const { database } = workspace;
  const insertIntended = database.prepare("INSERT INTO intended VALUES (?, ?)");
  const insertCreated = database.prepare("INSERT OR IGNORE INTO created VALUES (?, ?)");
  const insertShown = database.prepare("INSERT OR REPLACE INTO shown VALUES (?, ?)");
  await insertInBatches(backup.readIntendedCreates(), workspace, ({ key, digest }) =>
    insertIntended.run(key === null ? null : String(key), digest),
  );
  await insertInBatches(backup.readCreationEntries(), workspace, (entry) => {
    if (isIdList(entry)) for (const id of entry) insertCreated.run(id, rows.find(id)?.seq ?? null);
    else for (const [id, digest] of Object.entries(entry)) insertShown.run(id, digest);
  });
}

/** Adds rows in groups, one transaction each. */
export async function insertInBatches<T>(
  items: AsyncIterable<T>,
  workspace: Workspace,
  add: (item: T) => void,
): Promise<void> {
  let group: T[] = [];
  const write = () => workspace.transaction(() => group.forEach(add));
  for await (const item of items) {
    if (group.push(item) < writeBatchSize) continue;
    write();
    group = [];
  }
  write();
}
