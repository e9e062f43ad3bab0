import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import pg from "pg";
import { Problem } from "../../problems.js";
import { canBeRepeated, toldBy, unavailable } from "./failures.js";
import { Turns } from "./turns.js";

/**
 * Connections of a process at most: for what is one statement, for transactions, which may wait for a map, and for pages
 * that are written to files.
 */
const connections = { statements: 8, transactions: 8, snapshots: 2 } as const;

/** Milliseconds. */
const patience = {
  /** Until there is a connection: a new one, or one of the pool that is free. */
  connect: 10_000,
  statement: 60_000,
  /** A statement that goes through a whole map. */
  longStatement: 3_600_000,
  /** A process that is stopped in the middle of a write does not hold the map for ever. */
  idleInTransaction: 60_000,
  /** How much longer than the server its client waits, until it takes the connection for dead. */
  beyond: 5000,
} as const;

const attempts = 6;

/** Integers of a database, all below 2^53, as numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** What statements are given to: the database, or one transaction of it. */
export interface Session {
  rows<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
  /** How many rows it changed. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>;
}

export interface Transaction extends Session {
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
const settings = {
  application_name: "'geoferry'",
  default_transaction_isolation: "'read committed'",
  synchronous_commit: "coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on')",
  statement_timeout: `'${patience.statement}'`,
  idle_in_transaction_session_timeout: `'${patience.idleInTransaction}'`,
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
const planning = {
  statements: "'force_generic_plan'",
  transactions: "'force_custom_plan'",
  snapshots: "'force_generic_plan'",
} as const;

async function prepareConnection(client: pg.ClientBase, use: keyof typeof planning): Promise<void> {
  // One that breaks between two statements tells so with the next: without a listener it would end the process.
  client.on("error", () => undefined);
  const values = Object.entries({ ...settings, plan_cache_mode: planning[use] });
  await client.query(`SELECT ${values.map(([name, value]) => `set_config('${name}', ${value}, false)`).join(", ")}`);
}

export class Database implements Session {
  private readonly statements: pg.Pool;
  private readonly transactions: pg.Pool;
  private readonly snapshots: pg.Pool;
  private readonly snapshotTurns = pLimit(connections.snapshots);
  private readonly turns = new Turns();
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;
  /** The last write failed because the server's disk is full. */
  isFull = false;

  /** `url`: `postgres://user@host:port/database`. Connects when it is asked something. */
  constructor(url: string) {
    const pool = (use: keyof typeof connections) => {
      const made = new pg.Pool({
        connectionString: url,
        max: connections[use],
        types,
        keepAlive: true,
        connectionTimeoutMillis: patience.connect,
        query_timeout: patience.statement + patience.beyond,
        onConnect: (client) => prepareConnection(client, use),
      });
      // A connection that breaks while nobody uses it: the pool makes another.
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
      const client = await connected(this.statements);
      return using(client, () => query(client, sql, values));
    };
    return this.counted(() => repeated(once), writes);
  }

  /**
   * Commits when `work` has answered, rolls back when it threw. It is done again from its beginning where another
   * transaction stood in its way. Those of one `turn` go one after the other, so that many writes to one map take no
   * more than one connection.
   */
  transaction<T>(turn: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.counted(() => this.turns.take(turn, () => repeated(() => this.transactionOnce(work))), true);
  }

  /** Statements that all see one state of the database, and only read. Others wait while as many are under way as may. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    return this.counted(() => this.snapshotTurns(() => this.transactionOnce(work, this.snapshots, begin)), false);
  }

  /** Makes the room of a table's removed rows free; does nothing where another process is at it. */
  vacuum(table: string): Promise<void> {
    const once = async () => {
      const client = await connected(this.snapshots);
      await using(client, async () => {
        await query(client, `SET statement_timeout = ${patience.longStatement}`);
        try {
          await query(client, `VACUUM (SKIP_LOCKED) ${table}`, [], patience.longStatement + patience.beyond);
        } finally {
          await query(client, `SET statement_timeout = ${patience.statement}`);
        }
      });
    };
    return this.counted(() => this.snapshotTurns(once), false);
  }

  private async transactionOnce<T>(
    work: (transaction: Transaction) => Promise<T>,
    pool = this.transactions,
    begin = "BEGIN",
  ): Promise<T> {
    const client = await connected(pool);
    return using(client, async () => {
      await query(client, begin);
      const answer = await work(transactionOn(client));
      const { command } = await query(client, "COMMIT");
      if (command !== "COMMIT") throw new Error(`the transaction ended with ${command}`);
      return answer;
    });
  }

  private async counted<T>(work: () => Promise<T>, writes: boolean): Promise<T> {
    if (this.closed) throw unavailable(new Error("the store is closed"));
    const going = work();
    this.underWay.add(going);
    try {
      const answer = await going;
      if (writes) this.isFull = false;
      return answer;
    } catch (error) {
      if (error instanceof Problem && error.code === "disk-full") this.isFull = true;
      throw error;
    } finally {
      this.underWay.delete(going);
    }
  }

  /** After all that was asked is answered. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await Promise.allSettled(this.underWay);
    await Promise.all([this.statements.end(), this.transactions.end(), this.snapshots.end()]);
  }
}

/** What another transaction stood in the way of is done again, after a while that is different for each. */
async function repeated<T>(once: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      if (!canBeRepeated(error)) throw error;
      if (attempt === attempts) throw unavailable(error);
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
}

async function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw unavailable(error);
  }
}

/** Gives the connection back as it was, or closes it where that is not certain: the server then rolls back. */
async function using<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
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

const transactionOn = (client: pg.PoolClient): Transaction => {
  let timeout: number | undefined;
  return {
    rows: async <Row>(sql: string, ...values: readonly unknown[]) =>
      (await query(client, sql, values, timeout)).rows as Row[],
    run: async (sql, ...values) => (await query(client, sql, values, timeout)).rowCount ?? 0,
    async expectLongStatements() {
      await query(client, `SET LOCAL statement_timeout = ${patience.longStatement}`);
      timeout = patience.longStatement + patience.beyond;
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
    throw canBeRepeated(error) ? error : toldBy(error);
  }
}

const names = new Map<string, string>();
/** The server parses and plans a statement once a connection, by its name. */
function statementName(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = `geoferry_${names.size}`;
  names.set(sql, name);
  return name;
}
