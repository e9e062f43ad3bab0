import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import pg from "pg";
import { createError } from "../../../errors.js";
import { Problem } from "../../http/problems.js";
import { isRetryable, storeUnavailable, toStoreProblem } from "./failures.js";
import { hostUrls } from "./host-urls.js";
import { KeyedQueue } from "./keyed-queue.js";

/**
 * Maximum connections of a process: for single statements, for transactions, which may wait for a map, and for
 * snapshots that spool pages.
 */
const poolSizes = { statements: 8, transactions: 8, snapshots: 2 } as const;

const timeoutsMs = {
  /** Until a new or free connection is available, unless the URL sets a timeout. */
  connect: 10_000,
  /** Unless the URL sets a timeout. */
  statement: 60_000,
  /** For statements on a whole map. */
  longStatement: 3_600_000,
  /** Ends a transaction whose process was suspended, so that it does not hold the map forever. */
  idleInTransaction: 60_000,
  /** Added to server timeouts; after it, the client considers the connection dead. */
  beyond: 5000,
} as const;

/** Timeouts in milliseconds from the URL or the environment; 0 disables a timeout. */
export interface Limits {
  readonly connect: number;
  readonly statement: number;
}

/** Milliseconds per unit of PostgreSQL. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/**
 * `connect_timeout` of the URL in seconds, else PGCONNECT_TIMEOUT; `-c statement_timeout=…` in its `options`, else in
 * PGOPTIONS, in milliseconds unless it has a unit.
 * @throws usage
 */
export function limitsOf(url: string, environment: NodeJS.ProcessEnv): Limits {
  const { searchParams } = new URL(url);
  const connect = searchParams.get("connect_timeout") ?? (environment.PGCONNECT_TIMEOUT || null);
  const options = searchParams.get("options") ?? environment.PGOPTIONS ?? "";
  // The server uses the last of several values.
  const statement = [...options.matchAll(/statement_timeout=['"]?([^\s'"]*)/g)].at(-1)?.[1] ?? null;
  return {
    connect: connect === null ? timeoutsMs.connect : limitIn("connect_timeout", connect, "s"),
    statement: statement === null ? timeoutsMs.statement : limitIn("statement_timeout", statement, "ms"),
  };
}

function limitIn(name: string, text: string, usual: string): number {
  const [, number = "", unit = usual] = /^(\d{1,10})(ms|s|min|h)?$/.exec(text) ?? [];
  const value = Number(number) * units[unit]!;
  // Timers of Node.js fire at once above this value.
  if (number !== "" && value <= 2 ** 31 - 1 - timeoutsMs.beyond) return value;
  throw createError("usage", { reason: `${name}=${text} of the database URL or environment is not a valid duration` });
}

const maxAttempts = 6;

/** Parses bigint as number; all values are below 2^53. */
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Runs statements, either on the database or in one transaction. */
export interface QueryRunner {
  rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>;
}

export interface Transaction extends QueryRunner {
  /** Raises the statement timeout for statements on a whole map. */
  expectLongStatements(): Promise<void>;
}

/**
 * Session settings. The row lock on a map relies on READ COMMITTED: a statement sees all that was committed before it
 * began. Commits are durable regardless of the server's default.
 *
 * All statements can use an index. With outdated statistics, for example of a map that was filled a minute ago,
 * PostgreSQL would scan whole maps for some lists, so other plans are disabled. Just-in-time compilation costs more
 * than it saves.
 */
const connectionSettings = {
  application_name: "'geoferry'",
  default_transaction_isolation: "'read committed'",
  synchronous_commit: "coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on')",
  idle_in_transaction_session_timeout: `'${timeoutsMs.idleInTransaction}'`,
  enable_seqscan: "'off'",
  enable_bitmapscan: "'off'",
  enable_hashjoin: "'off'",
  enable_mergejoin: "'off'",
  jit: "'off'",
} as const;

/**
 * Statements with lists are planned each time, as a plan made for empty tables may be bad later. The others use one
 * plan.
 */
const planCacheModes = {
  statements: "'force_generic_plan'",
  transactions: "'force_custom_plan'",
  snapshots: "'force_generic_plan'",
} as const;

async function prepareConnection(
  client: pg.ClientBase,
  use: keyof typeof planCacheModes,
  { statement }: Limits,
  mustBePrimary: boolean,
): Promise<void> {
  // Without a listener, a connection that breaks while idle would end the process; the next statement reports the
  // error.
  client.on("error", () => undefined);
  const values = Object.entries({
    ...connectionSettings,
    statement_timeout: `'${statement}'`,
    plan_cache_mode: planCacheModes[use],
  });
  if (mustBePrimary) {
    const { rows } = await client.query("SELECT pg_is_in_recovery() AS standby");
    if ((rows as { standby: boolean }[])[0]!.standby)
      throw new Error("the server is a standby, which accepts no writes");
  }
  await client.query(`SELECT ${values.map(([name, value]) => `set_config('${name}', ${value}, false)`).join(", ")}`);
}

export class Database implements QueryRunner {
  private readonly statements: pg.Pool;
  private readonly transactions: pg.Pool;
  private readonly snapshots: pg.Pool;
  private readonly snapshotQueue = pLimit(poolSizes.snapshots);
  private readonly queue = new KeyedQueue();
  private readonly activeQueries = new Set<Promise<unknown>>();
  private closed = false;
  /** Whether a write failed because the server's disk is full; `Store.ping` resets it when the disk has space again. */
  isFull = false;

  private readonly limits: Limits;
  /** The same database on several servers, of which one is the primary. */
  private readonly urls: readonly string[];
  /** Index of the URL that connections use. */
  private current = 0;

  /**
   * @param url `postgres://user@host:port/database`; connects with the first statement. Of several hosts, tries each in turn,
   * and takes the one that accepts writes. @throws usage
   */
  constructor(url: string) {
    this.urls = hostUrls(url);
    const limits = limitsOf(this.urls[0]!, process.env);
    this.limits = limits;
    const pool = (use: keyof typeof poolSizes) => {
      const created = new pg.Pool({
        connectionString: this.urls[0]!,
        max: poolSizes[use],
        types: typeParsers,
        keepAlive: true,
        connectionTimeoutMillis: limits.connect,
        ...(limits.statement > 0 && { query_timeout: limits.statement + timeoutsMs.beyond }),
        onConnect: (client) => prepareConnection(client, use, limits, this.urls.length > 1),
      });
      // An idle connection broke; the pool replaces it.
      created.on("error", () => undefined);
      return created;
    };
    this.statements = pool("statements");
    this.transactions = pool("transactions");
    this.snapshots = pool("snapshots");
  }

  /** Tries each host once. */
  private async connect(pool: pg.Pool): Promise<pg.PoolClient> {
    for (let tries = 1; ; tries++) {
      const used = this.current;
      try {
        return await pool.connect();
      } catch (error) {
        if (tries >= this.urls.length) throw storeUnavailable(error);
        this.leaveHost(used);
      }
    }
  }

  /** Uses the next host for new connections, unless another statement has done so. */
  private leaveHost(used: number): void {
    if (this.current !== used) return;
    this.current = (used + 1) % this.urls.length;
    for (const pool of [this.statements, this.transactions, this.snapshots])
      pool.options.connectionString = this.urls[this.current];
  }

  async rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.execute(sql, values)).rows as Row[];
  }

  async run(sql: string, ...values: readonly unknown[]): Promise<number> {
    return (await this.execute(sql, values)).rowCount ?? 0;
  }

  private execute(sql: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    const once = async () => {
      const client = await this.connect(this.statements);
      return withConnection(client, () => query(client, sql, values));
    };
    return this.countActive(() => withRetries(once));
  }

  /**
   * Commits after `work` has succeeded, and rolls back if it throws. Repeats `work` after a serialization failure.
   * Transactions with the same queue name run one at a time, so that many writes to one map use a single connection.
   */
  transaction<T>(queue: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.countActive(() => this.queue.take(queue, () => withRetries(() => this.transactionOnce(work))));
  }

  /**
   * Runs read-only statements on one snapshot of the database. Further calls wait while the maximum number is running.
   */
  snapshot<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    return this.countActive(() => this.snapshotQueue(() => this.transactionOnce(work, this.snapshots, begin)));
  }

  /** Frees the space of deleted rows of a table; does nothing if another process is vacuuming it. */
  vacuum(table: string): Promise<void> {
    const once = async () => {
      const client = await this.connect(this.snapshots);
      await withConnection(client, async () => {
        await query(client, `SET statement_timeout = ${timeoutsMs.longStatement}`);
        try {
          await query(client, `VACUUM (SKIP_LOCKED) ${table}`, [], timeoutsMs.longStatement + timeoutsMs.beyond);
        } finally {
          await query(client, `SET statement_timeout = ${this.limits.statement}`);
        }
      });
    };
    return this.countActive(() => this.snapshotQueue(once));
  }

  private async transactionOnce<T>(
    work: (transaction: Transaction) => Promise<T>,
    pool = this.transactions,
    begin = "BEGIN",
  ): Promise<T> {
    const client = await this.connect(pool);
    return withConnection(client, async () => {
      await query(client, begin);
      const answer = await work(createTransaction(client));
      const { command } = await query(client, "COMMIT");
      if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
      return answer;
    });
  }

  private async countActive<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw storeUnavailable(new Error("the store is closed"));
    const used = this.current;
    const query = work();
    this.activeQueries.add(query);
    try {
      return await query;
    } catch (error) {
      if (error instanceof Problem && error.code === "disk-full") this.isFull = true;
      // The server was a primary until now, and has closed none of its connections.
      if (error instanceof Problem && error.code === "store-read-only") this.leaveHost(used);
      throw error;
    } finally {
      this.activeQueries.delete(query);
    }
  }

  /** Waits for all running statements. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await Promise.allSettled(this.activeQueries);
    await Promise.all([this.statements.end(), this.transactions.end(), this.snapshots.end()]);
  }
}

/** Repeats work after a serialization failure, with a random delay. */
async function withRetries<T>(once: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (attempt === maxAttempts) throw storeUnavailable(error);
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
}

/** Returns the connection to the pool, or closes it if its state is unknown, so that the server rolls back. */
async function withConnection<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    const answer = await work();
    client.release();
    return answer;
  } catch (error) {
    const isServerError = error instanceof pg.DatabaseError;
    const rolledBack = isServerError && (await client.query("ROLLBACK").catch(() => null));
    client.release(!rolledBack);
    throw error;
  }
}

const createTransaction = (client: pg.PoolClient): Transaction => {
  let timeout: number | undefined;
  return {
    rows: async <Row>(sql: string, ...values: readonly unknown[]) =>
      (await query(client, sql, values, timeout)).rows as Row[],
    run: async (sql, ...values) => (await query(client, sql, values, timeout)).rowCount ?? 0,
    async expectLongStatements() {
      await query(client, `SET LOCAL statement_timeout = ${timeoutsMs.longStatement}`);
      timeout = timeoutsMs.longStatement + timeoutsMs.beyond;
    },
  };
};

async function query(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
  timeout?: number,
): Promise<pg.QueryResult> {
  const prepared = values.length > 0 && { name: statementName(text), values: [...values] };
  try {
    return await client.query({ text, ...prepared, ...(timeout && { query_timeout: timeout }) });
  } catch (error) {
    throw isRetryable(error) ? error : toStoreProblem(error);
  }
}

const statementNames = new Map<string, string>();
/** Names let the server parse and plan a statement once per connection. */
function statementName(sql: string): string {
  const known = statementNames.get(sql);
  if (known !== undefined) return known;
  const name = `geoferry_${statementNames.size}`;
  statementNames.set(sql, name);
  return name;
}
