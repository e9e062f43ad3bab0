import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import pg from "pg";
import { createError } from "../../../errors.js";
import { Problem } from "../../http/problems.js";
import { isRetryable, storeUnavailable, toStoreProblem } from "./failures.js";
import { KeyedQueue } from "./keyed-queue.js";

/**
 * Connections of a process at most: for what is one statement, for transactions, which may wait for a map, and for pages
 * that are written to files.
 */
const poolSizes = { statements: 8, transactions: 8, snapshots: 2 } as const;

/** Milliseconds. */
const timeoutsMs = {
  /** Until there is a connection, a new one or one of the pool that is free, unless the address says otherwise. */
  connect: 10_000,
  /** Unless the address says otherwise. */
  statement: 60_000,
  /** A statement that goes through a whole map. */
  longStatement: 3_600_000,
  /** A process that is stopped in the middle of a write does not hold the map for ever. */
  idleInTransaction: 60_000,
  /** How much longer than the server its client waits, until it takes the connection for dead. */
  beyond: 5000,
} as const;

/** Milliseconds, as the address or the environment has them; 0 for as long as it takes. */
export interface Limits {
  readonly connect: number;
  readonly statement: number;
}

/** How many milliseconds each unit of PostgreSQL is. */
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/**
 * `connect_timeout` of the address, in seconds, else PGCONNECT_TIMEOUT; `-c statement_timeout=…` in its `options`, else in
 * PGOPTIONS, in milliseconds where it has no unit.
 * @throws usage
 */
export function limitsOf(url: string, environment: NodeJS.ProcessEnv): Limits {
  const { searchParams } = new URL(url);
  const connect = searchParams.get("connect_timeout") ?? (environment.PGCONNECT_TIMEOUT || null);
  const options = searchParams.get("options") ?? environment.PGOPTIONS ?? "";
  // Of several the server takes the last.
  const statement = [...options.matchAll(/statement_timeout=['"]?([^\s'"]*)/g)].at(-1)?.[1] ?? null;
  return {
    connect: connect === null ? timeoutsMs.connect : limitIn("connect_timeout", connect, "s"),
    statement: statement === null ? timeoutsMs.statement : limitIn("statement_timeout", statement, "ms"),
  };
}

function limitIn(name: string, text: string, usual: string): number {
  const [, number = "", unit = usual] = /^(\d{1,10})(ms|s|min|h)?$/.exec(text) ?? [];
  const value = Number(number) * units[unit]!;
  // Timers take no more, and start at once instead.
  if (number !== "" && value <= 2 ** 31 - 1 - timeoutsMs.beyond) return value;
  throw createError("usage", { reason: `the database is given ${name}=${text}, which is no such time` });
}

const maxAttempts = 6;

/** Integers of a database, all below 2^53, as numbers. */
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** What statements are given to: the database, or one transaction of it. */
export interface QueryRunner {
  rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
  /** How many rows it changed. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>;
}

export interface Transaction extends QueryRunner {
  /** From here on, statements may take as long as a map is large. */
  expectLongStatements(): Promise<void>;
}

/**
 * What holds before the first statement of ours. READ COMMITTED is what the row lock on a map relies on: a statement
 * sees all that was committed before it began. What was acknowledged survives the loss of power, whatever the server's
 * default is.
 *
 * Every statement has its index. Left to its statistics, which know nothing of a map that was filled a minute ago,
 * PostgreSQL would go through whole maps for some lists, so it is left no other way than the index. Just-in-time
 * compilation costs more than any of our statements.
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
 * Statements on lists are planned each time, with what the tables are by then: a plan that was made when they were empty
 * need not suit. The others have one plan.
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
): Promise<void> {
  // One that breaks between two statements tells so with the next: without a listener it would end the process.
  client.on("error", () => undefined);
  const values = Object.entries({
    ...connectionSettings,
    statement_timeout: `'${statement}'`,
    plan_cache_mode: planCacheModes[use],
  });
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
  /** The last write failed because the server's disk is full. */
  isFull = false;

  private readonly limits: Limits;

  /** `url`: `postgres://user@host:port/database`. Connects when it is asked something. @throws usage */
  constructor(url: string) {
    const limits = limitsOf(url, process.env);
    this.limits = limits;
    const pool = (use: keyof typeof poolSizes) => {
      const made = new pg.Pool({
        connectionString: url,
        max: poolSizes[use],
        types: typeParsers,
        keepAlive: true,
        connectionTimeoutMillis: limits.connect,
        ...(limits.statement > 0 && { query_timeout: limits.statement + timeoutsMs.beyond }),
        onConnect: (client) => prepareConnection(client, use, limits),
      });
      // A connection that breaks while no one uses it: the pool makes another.
      made.on("error", () => undefined);
      return made;
    };
    this.statements = pool("statements");
    this.transactions = pool("transactions");
    this.snapshots = pool("snapshots");
  }

  async rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.ask(sql, values, false)).rows as Row[];
  }

  async run(sql: string, ...values: readonly unknown[]): Promise<number> {
    return (await this.ask(sql, values, true)).rowCount ?? 0;
  }

  private ask(sql: string, values: readonly unknown[], writes: boolean): Promise<pg.QueryResult> {
    const once = async () => {
      const client = await acquireConnection(this.statements);
      return withConnection(client, () => query(client, sql, values));
    };
    return this.countActive(() => withRetries(once), writes);
  }

  /**
   * Commits when `work` has answered, rolls back when it threw. It is done again from its beginning where another
   * transaction stood in its way. Those of one `turn` go one after the other, so that many writes to one map take no
   * more than one connection.
   */
  transaction<T>(turn: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.countActive(() => this.queue.take(turn, () => withRetries(() => this.transactionOnce(work))), true);
  }

  /** Statements that all see one state of the database, and only read. Others wait while as many are under way as may. */
  snapshot<T>(work: (session: QueryRunner) => Promise<T>): Promise<T> {
    const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    return this.countActive(() => this.snapshotQueue(() => this.transactionOnce(work, this.snapshots, begin)), false);
  }

  /** Makes the room of a table's removed rows free; does nothing where another process is at it. */
  vacuum(table: string): Promise<void> {
    const once = async () => {
      const client = await acquireConnection(this.snapshots);
      await withConnection(client, async () => {
        await query(client, `SET statement_timeout = ${timeoutsMs.longStatement}`);
        try {
          await query(client, `VACUUM (SKIP_LOCKED) ${table}`, [], timeoutsMs.longStatement + timeoutsMs.beyond);
        } finally {
          await query(client, `SET statement_timeout = ${this.limits.statement}`);
        }
      });
    };
    return this.countActive(() => this.snapshotQueue(once), false);
  }

  private async transactionOnce<T>(
    work: (transaction: Transaction) => Promise<T>,
    pool = this.transactions,
    begin = "BEGIN",
  ): Promise<T> {
    const client = await acquireConnection(pool);
    return withConnection(client, async () => {
      await query(client, begin);
      const answer = await work(createTransaction(client));
      const { command } = await query(client, "COMMIT");
      if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
      return answer;
    });
  }

  private async countActive<T>(work: () => Promise<T>, writes: boolean): Promise<T> {
    if (this.closed) throw storeUnavailable(new Error("the store is closed"));
    const going = work();
    this.activeQueries.add(going);
    try {
      const answer = await going;
      if (writes) this.isFull = false;
      return answer;
    } catch (error) {
      if (error instanceof Problem && error.code === "disk-full") this.isFull = true;
      throw error;
    } finally {
      this.activeQueries.delete(going);
    }
  }

  /** After all that was asked is answered. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await Promise.allSettled(this.activeQueries);
    await Promise.all([this.statements.end(), this.transactions.end(), this.snapshots.end()]);
  }
}

/** What another transaction stood in the way of is done again, after a while that is different for each. */
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

async function acquireConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw storeUnavailable(error);
  }
}

/** Gives the connection back as it was, or closes it where that is not certain: the server then rolls back. */
async function withConnection<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    const answer = await work();
    client.release();
    return answer;
  } catch (error) {
    const refused = error instanceof pg.DatabaseError;
    const rolledBack = refused && (await client.query("ROLLBACK").catch(() => null));
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
/** The server parses and plans a statement once a connection, by its name. */
function statementName(sql: string): string {
  const known = statementNames.get(sql);
  if (known !== undefined) return known;
  const name = `geoferry_${statementNames.size}`;
  statementNames.set(sql, name);
  return name;
}
