/** Finds the features on a map that an earlier restore of a backup recreated with new ids. */
import type { Workspace } from "../../compare/workspace.js";
import { shortDigestLength } from "../journal/backup.js";
import type { OpenBackup } from "../journal/backup-reader.js";
import type { CurrentRows } from "./current-rows.js";
import { insertInBatches } from "./run-creations.js";

/** A feature of a backup without a match by id or key. */
export interface MissingFeature {
  readonly id: string;
  /** `digestText` of its canonical text. */
  readonly digest: string;
}

/**
 * Pairs features of a backup that neither an id nor a key identifies with map features of exactly the same content. Each
 * map feature is paired once. Features that were already on the map when the run ended are no candidates: those that
 * match the backup, those that the run created, and those that the backup lists because their content is the same.
 */
export class RecreatedFeatures {
  private readonly insert;
  private readonly select;

  constructor(
    private readonly workspace: Workspace,
    private readonly currentRows: CurrentRows,
  ) {
    const { database } = workspace;
    database.exec(`
      CREATE TABLE missing (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, digest TEXT NOT NULL);
      CREATE TABLE equal (id TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE recreated (id TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID`);
    this.insert = database.prepare("INSERT INTO missing (id, digest) VALUES (?, ?)");
    this.select = database.prepare<[string], { readonly seq: number }>("SELECT seq FROM recreated WHERE id = ?");
  }

  addMissing({ id, digest }: MissingFeature): void {
    this.insert.run(id, digest);
  }

  /**
   * Pairs the missing features, after the table `matched` and those of `RunCreations` are filled.
   * @returns the number of pairs
   */
  async pair(backup: OpenBackup): Promise<number> {
    const { database } = this.workspace;
    const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    if (count("missing") === 0) return 0;
    const insertEqual = database.prepare("INSERT OR IGNORE INTO equal VALUES (?)");
    await insertInBatches(backup.readEqualIds(), this.workspace, (id) =>
      insertEqual.run(this.currentRows.find(id)?.id ?? id),
    );
    database.exec(`
      CREATE INDEX missing_digest ON missing (digest, seq);
      CREATE TABLE candidate AS
        SELECT digest, seq AS map, row_number() OVER (PARTITION BY digest ORDER BY seq) AS number FROM map
        WHERE digest IN (SELECT digest FROM missing) AND seq NOT IN (SELECT seq FROM matched)
          AND seq NOT IN (SELECT seq FROM undo) AND id NOT IN (SELECT id FROM equal);
      CREATE INDEX candidate_digest ON candidate (digest, number);
      INSERT INTO recreated SELECT numbered.id, candidate.map FROM (
        SELECT id, digest, row_number() OVER (PARTITION BY digest ORDER BY seq) AS number FROM missing
      ) AS numbered JOIN candidate ON candidate.digest = numbered.digest AND candidate.number = numbered.number`);
    return count("recreated");
  }

  /**
   * The number of features without a pair that may be on the map as the run left them: it updated them, and a later run
   * deleted them. To be called after `pair`, with the table `written` filled.
   */
  countUpdated(): number {
    const sql = `SELECT count(*) FROM missing JOIN written ON written.id = missing.id
      WHERE missing.id NOT IN (SELECT id FROM recreated) AND written.digest IN (
        SELECT substr(digest, 1, ${shortDigestLength}) FROM map WHERE seq NOT IN (SELECT seq FROM matched)
          AND seq NOT IN (SELECT seq FROM undo) AND id NOT IN (SELECT id FROM equal))`;
    return this.workspace.database.prepare(sql).pluck().get() as number;
  }

  /** The position of the map feature that is paired with a feature of the backup. */
  findSeq(id: string): number | null {
    return this.select.get(id)?.seq ?? null;
  }
}
