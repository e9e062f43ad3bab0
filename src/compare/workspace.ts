import type { Spool } from "../io/input/spool.js";
import { type Database, loadNativeSqlite } from "../sqlite/index.js";
import { createTableSql, FeatureSide } from "./feature-side.js";

/**
 * Database for comparing a source with a map: one table for each, in a temporary folder, so that neither has to fit
 * into memory. Each run creates one and deletes it with the spool.
 */
export class Workspace implements Disposable {
  private constructor(
    /** Folder for other files of the run. */
    readonly folder: string,
    readonly database: Database,
    readonly source: FeatureSide,
    readonly map: FeatureSide,
  ) {}

  /** @throws output-failed if temporary files cannot be written */
  static async create(spool: Spool): Promise<Workspace> {
    // Loaded lazily: loading takes longer than a small conversion.
    const Sqlite = loadNativeSqlite();
    const folder = spool.folder();
    const database = new Sqlite(`${folder}/features.db`);
    // A temporary file: nothing needs to survive a crash.
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("cache_size = -32768");
    database.pragma("temp_store = FILE");
    database.exec(`${createTableSql("source")}; ${createTableSql("map")}`);
    return new Workspace(folder, database, new FeatureSide(database, "source"), new FeatureSide(database, "map"));
  }

  /** Runs many writes in one transaction; about a thousand rows per call work well. */
  transaction<T>(write: () => T): T {
    return this.database.transaction(write)();
  }

  [Symbol.dispose](): void {
    this.source[Symbol.dispose]();
    this.map[Symbol.dispose]();
    this.database.close();
  }
}
