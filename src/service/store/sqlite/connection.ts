import { closeSync, openSync } from "node:fs";
import { createError } from "../../../errors.js";
import { type Database, loadNativeSqlite, type Statement, sqliteErrorCode } from "../../../sqlite/index.js";
import { migrate } from "./migrations.js";

/** Milliseconds to wait for a write of another process, such as `geoferry admin` beside the service. */
const busyTimeoutMs = 30_000;
/** Page cache per connection in kilobytes; spooled pages are read only once. */
const cacheKilobytes = { writer: 64 * 1024, reader: 64 * 1024, spooler: 2 * 1024 } as const;
/** Pages in the write-ahead log that trigger a checkpoint; a high value combines many writes to a page. */
const walCheckpointPages = 4000;
/** The log file is truncated to this many bytes after a checkpoint. */
const walSizeLimitBytes = 64 << 20;

/** A database with a cache of prepared statements. */
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

  /** Returns the first row, or undefined. The caller must know the type of its columns. */
  get<Row>(sql: string, ...values: readonly unknown[]): Row | undefined {
    return this.prepared(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: readonly unknown[]): Row[] {
    return this.prepared(sql).all(...values) as Row[];
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly unknown[]): number {
    return this.prepared(sql).run(...values).changes;
  }

  /** Returns a prepared statement, to avoid a lookup per iteration of a loop. */
  statement<Values extends unknown[], Row = unknown>(sql: string): Statement<Values, Row> {
    return this.prepared(sql) as Statement<Values, Row>;
  }

  close(): void {
    this.database.close();
  }
}

/** @throws SqliteError, store-foreign if the file is not a database, and the errors of `migrate` */
export function connect(path: string, role: keyof typeof cacheKilobytes): Connection {
  // Only the user of the service can read the file, which contains password hashes and email addresses. SQLite creates
  // its journals with the same mode.
  if (role === "writer") closeSync(openSync(path, "a", 0o600));
  const Sqlite = loadNativeSqlite();
  const database = new Sqlite(path, { readonly: role !== "writer", fileMustExist: true, timeout: busyTimeoutMs });
  try {
    database.pragma(`cache_size = -${cacheKilobytes[role]}`);
    database.pragma("trusted_schema = OFF");
    database.pragma("temp_store = MEMORY");
    if (role === "writer") {
      database.pragma("journal_mode = WAL");
      // Makes commits durable: with "NORMAL", WAL mode does not sync on each commit.
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
