/** Finds on a map what a run created, by the backup of the run. */
import type { Database } from "better-sqlite3";
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import { shortDigestLength } from "../journal/backup.js";
import { isIdList, type OpenBackup } from "../journal/backup-reader.js";

/** Rows that are written at once. */
const writeBatchSize = 1000;

const tableDefinitions = `
  CREATE TABLE intended (key TEXT, digest TEXT NOT NULL);
  CREATE TABLE created (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE shown (id TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE undo (seq INTEGER PRIMARY KEY, is_as_left INTEGER NOT NULL)`;

/**
 * A feature of the map was created by the run if the service gave its id to the run; or, where the run was cut off and
 * may not have heard of it, if it has a key that the run was about to create, which the map did not have before. It is as
 * the run left it if it says what was sent under its key (without keys: something that was sent), or what the map showed
 * of it right after.
 */
const findCreatedSql = (ended: boolean): string => `
  INSERT INTO undo SELECT map.seq,
    EXISTS (SELECT 1 FROM shown WHERE shown.id = map.id AND shown.digest = substr(map.digest, 1, ${shortDigestLength})) OR
    EXISTS (SELECT 1 FROM intended WHERE intended.digest = substr(map.digest, 1, ${shortDigestLength})
      AND (intended.key IS NULL OR intended.key = map.key))
  FROM map WHERE map.seq NOT IN (SELECT seq FROM met) AND (
    map.id IN (SELECT id FROM created)
    ${ended ? "" : "OR map.key IN (SELECT key FROM intended WHERE key IS NOT NULL)"})`;

/** What a run created, and the map still has. */
export class RunCreations {
  private constructor(
    private readonly database: Database,
    /** Features that are to be deleted, as they are as the run left them. */
    readonly count: number,
    /** Features that say something else by now, and stay. */
    readonly changed: number,
    /** Features that nothing identifies, and of which the run did not learn whether they were created. */
    readonly unknown: number,
  ) {}

  /** @param workspace its map side has keys, and its table `met` the features that the backup has as they were */
  static async find(backup: OpenBackup, workspace: Workspace): Promise<RunCreations> {
    const { database } = workspace;
    database.exec(tableDefinitions);
    if (backup.creates + backup.features > 0) {
      await loadBackupEntries(backup, workspace);
      database.exec("CREATE INDEX intended_digest ON intended (digest); CREATE INDEX intended_key ON intended (key)");
      database.exec(findCreatedSql(backup.isEnded));
    }
    const number = (sql: string) => database.prepare(sql).pluck().get() as number;
    const unidentified = number("SELECT count(*) FROM intended WHERE key IS NULL");
    const unknown = backup.isEnded ? 0 : Math.max(0, unidentified - number("SELECT count(*) FROM created"));
    const changed = number("SELECT count(*) FROM undo WHERE NOT is_as_left");
    return new RunCreations(database, number("SELECT count(*) FROM undo WHERE is_as_left"), changed, unknown);
  }

  /** Those that are to be deleted. */
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

async function loadBackupEntries(backup: OpenBackup, workspace: Workspace): Promise<void> {
  const { database } = workspace;
  const intend = database.prepare("INSERT INTO intended VALUES (?, ?)");
  const create = database.prepare("INSERT OR IGNORE INTO created VALUES (?)");
  const show = database.prepare("INSERT OR REPLACE INTO shown VALUES (?, ?)");
  await insertInBatches(backup.readIntendedCreates(), workspace, ({ key, digest }) =>
    intend.run(key === null ? null : String(key), digest),
  );
  await insertInBatches(backup.readCreationEntries(), workspace, (entry) => {
    if (isIdList(entry)) for (const id of entry) create.run(id);
    else for (const [id, digest] of Object.entries(entry)) show.run(id, digest);
  });
}

/** Adds rows in groups, each in one transaction. */
export async function insertInBatches<T>(
  all: AsyncIterable<T>,
  workspace: Workspace,
  add: (one: T) => void,
): Promise<void> {
  let group: T[] = [];
  const write = () => workspace.transaction(() => group.forEach(add));
  for await (const one of all) {
    if (group.push(one) < writeBatchSize) continue;
    write();
    group = [];
  }
  write();
}
