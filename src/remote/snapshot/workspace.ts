import type { Database } from "better-sqlite3";
import type { Spool } from "../../io/input/spool.js";
import { createTableSql, FeatureSide } from "./feature-side.js";

/**
 * What a source and a map are compared on: a table of each in a database in a temporary folder, so that neither has to
 * fit into memory. Made for one run and thrown away with the spool.
 */
export class Workspace implements Disposable {
  private constructor(
    /** The folder that further files of the run go to. */
    readonly folder: string,
    readonly database: Database,
    readonly source: FeatureSide,
    readonly map: FeatureSide,
  ) {}

  /** @throws output-failed where temporary files cannot be written */
  static async create(spool: Spool): Promise<Workspace> {
    // Loaded when a map is read: it takes longer than a small conversion.
    const { default: Sqlite } = await import("better-sqlite3");
    const folder = spool.folder();
    const database = new Sqlite(`${folder}/features.db`);
    // A file of one run: a crash leaves nothing that is worth saving.
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("cache_size = -32768");
    database.pragma("temp_store = FILE");
    database.exec(`${createTableSql("source")}; ${createTableSql("map")}`);
    return new Workspace(folder, database, new FeatureSide(database, "source"), new FeatureSide(database, "map"));
  }

  /** Runs many writes as one; a thousand rows a call are a good measure. */
  transaction<T>(write: () => T): T {
    return this.database.transaction(write)();
  }

  [Symbol.dispose](): void {
    this.source[Symbol.dispose]();
    this.map[Symbol.dispose]();
    this.database.close();
  }
}
