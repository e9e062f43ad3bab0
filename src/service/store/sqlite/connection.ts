import { closeSync, openSync } from "node:fs";
import { createError } from "../../../errors.js";
import { type Database, loadNativeSqlite, type Statement, sqliteErrorCode } from "../../../sqlite/index.js";
import { migrate } from "./migrations.js";

/** Milliseconds to wait for another process that writes: `geoferry admin` beside the service. */
const busyTimeoutMs = 30_000;
/** Kilobytes of pages that a connection keeps; what is written to a file is read once. */
const cacheKilobytes = { writer: 64 * 1024, reader: 64 * 1024, spooler: 2 * 1024 } as const;
/** Pages of the log after which it is carried over: many writes to a page are one then. */
const walCheckpointPages = 4000;
/** Bytes of the log that are kept for the next writes once a great one has passed. */
const walSizeLimitBytes = 64 << 20;

/** A database with its prepared statements. */
export class Connection {
  private readonly statements = new Map<string, Statement<unknown[], unknown>>();

  constructor(readonly database: Database) {}

  private prepared(sql: string): Statement<unknown[], unknown> {
    const known = this.statements.get(sql);
    if (known) return known;
    const statement = this.database.prepare<unknown[], unknown>(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  /** The first row; undefined where there is none. What its columns hold is the caller's to know. */
  get<Row>(sql: string, ...values: readonly unknown[]): Row | undefined {
    return this.prepared(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: readonly unknown[]): Row[] {
    return this.prepared(sql).all(...values) as Row[];
  }

  /** How many rows it changed. */
  run(sql: string, ...values: readonly unknown[]): number {
    return this.prepared(sql).run(...values).changes;
  }

  /** For loops: what is prepared is looked up once. */
  statement<Values extends unknown[], Row = unknown>(sql: string): Statement<Values, Row> {
    return this.prepared(sql) as Statement<Values, Row>;
  }

  close(): void {
    this.database.close();
  }
}

/** @throws SqliteError, store-foreign where it is no database, and what `migrate` throws */
export function connect(path: string, role: keyof typeof cacheKilobytes): Connection {
  // Passwords' hashes and people's addresses: for no one else. Its journals get the same rights from SQLite.
  if (role === "writer") closeSync(openSync(path, "a", 0o600));
  const Sqlite = loadNativeSqlite();
  const database = new Sqlite(path, { readonly: role !== "writer", fileMustExist: true, timeout: busyTimeoutMs });
  try {
    database.pragma(`cache_size = -${cacheKilobytes[role]}`);
    database.pragma("trusted_schema = OFF");
    database.pragma("temp_store = MEMORY");
    if (role === "writer") {
      database.pragma("journal_mode = WAL");
      // What was acknowledged survives the loss of power: in WAL, "NORMAL" would not sync with each commit.
      database.pragma("synchronous = FULL");
      database.pragma(`wal_autocheckpoint = ${walCheckpointPages}`);
      database.pragma(`journal_size_limit = ${walSizeLimitBytes}`);
      database.pragma("foreign_keys = ON");
      migrate(database, path);
    }
    return new Connection(database);
  } catch (error) {
    database.close();
    throw sqliteErrorCode(error) === "SQLITE_NOTADB" ? createError("store-foreign", { store: path }, error) : error;
  }
}
