import pg from "pg";
import { quoteLiteral } from "../../shared/sql-identifiers.js";
import { connectionError, lacksTls, sqlStateOf } from "./errors.js";
import type { ConnectionSettings, ServerSettings } from "./settings.js";

/** Parses int8 as numbers: those of the catalog are below 2^53. */
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/**
 * Settings of every transaction. They do not change the session, which a connection pooler may pass on. Makes text UTF-8,
 * literals standard-conforming, times UTC and the row order deterministic.
 */
const sessionSettings: Readonly<Record<string, string>> = {
  client_encoding: "UTF8",
  standard_conforming_strings: "on",
  DateStyle: "ISO, YMD",
  IntervalStyle: "iso_8601",
  TimeZone: "UTC",
  extra_float_digits: "1",
  synchronize_seqscans: "off",
  max_parallel_workers_per_gather: "0",
  jit: "off",
  // The transaction is idle while other pipeline stages work.
  idle_in_transaction_session_timeout: "0",
};

/** Makes the server detect a killed client during a statement (PostgreSQL 14 and later). */
const disconnectCheck = { from: 140000, name: "client_connection_check_interval", value: "5s" } as const;

export type TransactionMode =
  | { readonly reads: true; readonly snapshot: string | null }
  | { readonly reads: false; readonly lockTimeout: number };

/** A connection with one transaction on it. */
export class Connection {
  /** Server version number, such as 150004. */
  version = 0;
  private ended = false;

  private constructor(
    readonly client: pg.Client,
    private readonly settings: ConnectionSettings,
    private readonly server: ServerSettings,
    private readonly tls: ServerSettings["tls"][number],
  ) {}

  /** @param name the address, for messages @throws database-… */
  static async open(
    name: string,
    settings: ConnectionSettings,
    mode: TransactionMode,
    signal: AbortSignal,
  ): Promise<Connection> {
    let connection: Connection | undefined;
    try {
      signal.throwIfAborted();
      connection = await connectToFirst(settings);
      await connection.withTimeout(settings.connectTimeout, connection.begin(mode));
      return connection;
    } catch (error) {
      await connection?.close();
      if (signal.aborted) throw error;
      throw connectionError(name, error);
    }
  }

  /** Connects to one server with one TLS mode. */
  static async attempt(
    settings: ConnectionSettings,
    server: ServerSettings,
    tls: ServerSettings["tls"][number],
  ): Promise<Connection> {
    const { user, database, password, options, applicationName, connectTimeout } = settings;
    const client = new pg.Client({
      host: server.host,
      port: server.port,
      user,
      database,
      ...(password === undefined ? {} : { password }),
      ...(options === undefined ? {} : { options }),
      ssl: tls,
      application_name: applicationName,
      connectionTimeoutMillis: connectTimeout * 1000,
      keepAlive: true,
      types: typeParsers,
    });
    // The next statement reports a broken connection; without a listener, the event would end the process.
    client.on("error", () => undefined);
    await client.connect();
    return new Connection(client, settings, server, tls);
  }

  /** Needed for poolers, which may accept a connection without having a server. @param seconds 0 waits forever */
  private async withTimeout(seconds: number, work: Promise<void>): Promise<void> {
    const { stream } = this.client.connection;
    const late = new Error(`no answer within ${seconds} s (connect_timeout)`);
    const timer = seconds > 0 ? setTimeout(() => stream.destroy(late), seconds * 1000) : undefined;
    try {
      await work;
    } finally {
      clearTimeout(timer);
    }
  }

  private async begin(mode: TransactionMode): Promise<void> {
    await this.client.query(mode.reads ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN READ WRITE");
    if (mode.reads && mode.snapshot !== null) {
      await this.client.query(`SET TRANSACTION SNAPSHOT ${quoteLiteral(mode.snapshot)}`);
    }
    const all = { ...sessionSettings, ...(mode.reads ? {} : { lock_timeout: `${mode.lockTimeout}s` }) };
    const set = Object.entries(all).map(([name, value]) => `set_config('${name}', '${value}', true)`);
    const schema = this.settings.activeSchema;
    const path = "set_config('search_path', quote_ident($1) || ', ' || current_setting('search_path'), true)";
    const [row] = await this.rows<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version, ${[...set, ...(schema ? [path] : [])].join(", ")}`,
      ...(schema ? [schema] : []),
    );
    this.version = row!.version;
    if (this.version < disconnectCheck.from) return;
    // Not supported on every operating system.
    await this.inSavepoint(() => this.run(`SET LOCAL ${disconnectCheck.name} = '${disconnectCheck.value}'`)).catch(
      () => undefined,
    );
  }

  async rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.client.query(sql, values.length > 0 ? [...values] : undefined)).rows as Row[];
  }

  /** Runs a statement. @returns the number of rows changed */
  async run(sql: string, ...values: readonly unknown[]): Promise<number> {
    return (await this.client.query(sql, values.length > 0 ? [...values] : undefined)).rowCount ?? 0;
  }

  /** Runs `work` in a savepoint and rolls back to it on failure. @throws the error of `work` */
  async inSavepoint<T>(work: () => Promise<T>): Promise<T> {
    await this.run("SAVEPOINT tried");
    try {
      const answer = await work();
      await this.run("RELEASE SAVEPOINT tried");
      return answer;
    } catch (error) {
      await this.run("ROLLBACK TO SAVEPOINT tried; RELEASE SAVEPOINT tried");
      throw error;
    }
  }

  /** Runs `work` in a savepoint and always rolls back, which releases its locks. */
  async withRollback<T>(work: () => Promise<T>): Promise<T> {
    await this.run("SAVEPOINT read");
    try {
      return await work();
    } finally {
      await this.run("ROLLBACK TO SAVEPOINT read; RELEASE SAVEPOINT read").catch(() => undefined);
    }
  }

  /** Cancels the running statement, over a second connection. */
  async cancel(): Promise<void> {
    const pid = (this.client as unknown as { readonly processID: number | null }).processID;
    if (this.ended || pid === null) return;
    try {
      const other = await Connection.attempt(this.settings, this.server, this.tls);
      await other.run("SELECT pg_cancel_backend($1)", pid);
      await other.close();
    } catch {
      this.client.connection.stream.destroy();
    }
  }

  /** Cancels the running statement and closes the connection. */
  async destroy(): Promise<void> {
    const cancelled = this.cancel();
    this.client.connection.stream.destroy();
    await cancelled;
  }

  /** Closes the connection; the server rolls back uncommitted changes. */
  async close(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    await this.client.end().catch(() => undefined);
  }
}

/** Connects to the first server that answers, with the first TLS mode that works. */
async function connectToFirst(settings: ConnectionSettings): Promise<Connection> {
  let failure: unknown;
  for (const server of settings.servers) {
    for (const [n, tls] of server.tls.entries()) {
      try {
        return await Connection.attempt(settings, server, tls);
      } catch (error) {
        failure = error;
        const isLast = n === server.tls.length - 1;
        // For sslmode prefer and allow: try the other TLS mode.
        if (isLast || !(lacksTls(error) || sqlStateOf(error) === "28000")) break;
      }
    }
    if (sqlStateOf(failure) !== "") break;
  }
  throw failure;
}
