import { existsSync } from "node:fs";
import {
  type Database,
  type FunctionOptions,
  type OpenOptions,
  type RunResult,
  type SqliteDriver,
  SqliteError,
  type SqlValue,
  type Statement,
  type TransactionFunction,
} from "./database.js";
import { resultCodeName } from "./result-codes.js";
import { createTransaction } from "./transaction.js";

type Parameter = SqlValue | Readonly<Record<string, SqlValue>>;

/** The part of `node:sqlite` in use; the type definitions of Node 20 lack the module. */
interface StatementSync {
  run(...parameters: Parameter[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...parameters: Parameter[]): unknown;
  all(...parameters: Parameter[]): unknown[];
  iterate(...parameters: Parameter[]): IterableIterator<unknown>;
  columns(): { readonly name: string; readonly type: string | null }[];
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
}

interface DatabaseSync {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): StatementSync;
  exec(sql: string): void;
  function(
    name: string,
    options: FunctionOptions & { readonly useBigIntArguments: boolean },
    work: (...values: unknown[]) => Parameter,
  ): void;
  /** Absent from versions of Node that are never defensive. */
  enableDefensive?(active: boolean): void;
  close(): void;
}

export interface NodeSqlite {
  readonly DatabaseSync: {
    new (path: string, options: { readonly readOnly: boolean; readonly timeout: number }): DatabaseSync;
  };
  readonly StatementSync: { readonly prototype: object };
}

/** better-sqlite3's default, in milliseconds. */
const defaultBusyTimeoutMs = 5000;

/** Returns blobs as Buffers, as better-sqlite3 does, without copying them. */
const toBuffer = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

function convertError(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: unknown; message: string };
  return typeof errcode === "number" ? new SqliteError(message, resultCodeName(errcode), { cause: error }) : error;
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw convertError(error);
  }
}

/** Arrays are spread; an object holds named parameters. */
const spread = (parameters: readonly unknown[]): Parameter[] =>
  (parameters.length === 1 && Array.isArray(parameters[0]) ? parameters[0] : parameters) as Parameter[];

class NodeStatement<Values extends unknown[], Row> implements Statement<Values, Row> {
  private isPlucked = false;
  private isRaw = false;

  constructor(
    private readonly statement: StatementSync,
    safeIntegers: boolean,
  ) {
    if (safeIntegers) statement.setReadBigInts(true);
  }

  private convert(row: unknown): Row {
    if (Array.isArray(row)) {
      if (this.isPlucked) return toBuffer(row[0]) as Row;
      for (let i = 0; i < row.length; i++) if (row[i] instanceof Uint8Array) row[i] = toBuffer(row[i]);
      return row as Row;
    }
    const record = row as Record<string, unknown>;
    for (const name in record) if (record[name] instanceof Uint8Array) record[name] = toBuffer(record[name]);
    return record as Row;
  }

  run(...parameters: Values): RunResult {
    const { changes, lastInsertRowid } = attempt(() => this.statement.run(...spread(parameters)));
    return { changes: Number(changes), lastInsertRowid };
  }

  get(...parameters: Values): Row | undefined {
    const row = attempt(() => this.statement.get(...spread(parameters)));
    return row === undefined ? undefined : this.convert(row);
  }

  all(...parameters: Values): Row[] {
    const rows: unknown[] = attempt(() => this.statement.all(...spread(parameters)));
    for (let i = 0; i < rows.length; i++) rows[i] = this.convert(rows[i]);
    return rows as Row[];
  }

  *iterate(...parameters: Values): IterableIterator<Row> {
    try {
      for (const row of this.statement.iterate(...spread(parameters))) yield this.convert(row);
    } catch (error) {
      throw convertError(error);
    }
  }

  pluck(on = true): this {
    this.isPlucked = on;
    this.statement.setReturnArrays(on || this.isRaw);
    return this;
  }

  raw(on = true): this {
    this.isRaw = on;
    this.statement.setReturnArrays(on || this.isPlucked);
    return this;
  }

  safeIntegers(on = true): this {
    this.statement.setReadBigInts(on);
    return this;
  }

  columns(): { name: string; type: string | null }[] {
    return this.statement.columns().map(({ name, type }) => ({ name, type }));
  }
}

/**
 * Wraps `node:sqlite` so that it behaves as better-sqlite3.
 * @returns null if this version of Node lacks a function that geoferry needs (before 22.16)
 */
export function createNodeDriver({ DatabaseSync, StatementSync }: NodeSqlite): SqliteDriver | null {
  // Came together with `isTransaction` and `columns`.
  if (!("setReturnArrays" in StatementSync.prototype)) return null;

  return class NodeDatabase implements Database {
    private readonly database: DatabaseSync;
    private safeIntegers = false;

    constructor(path: string, { readonly = false, fileMustExist = false, timeout }: OpenOptions = {}) {
      if ((readonly || fileMustExist) && path !== ":memory:" && !existsSync(path))
        throw new SqliteError("unable to open database file", "SQLITE_CANTOPEN");
      const options = { readOnly: readonly, timeout: timeout ?? defaultBusyTimeoutMs };
      this.database = attempt(() => new DatabaseSync(path, options));
    }

    get open(): boolean {
      return this.database.isOpen;
    }

    get inTransaction(): boolean {
      return this.database.isTransaction;
    }

    prepare<Values extends unknown[], Row>(sql: string): Statement<Values, Row> {
      return new NodeStatement<Values, Row>(
        attempt(() => this.database.prepare(sql)),
        this.safeIntegers,
      );
    }

    exec(sql: string): this {
      attempt(() => this.database.exec(sql));
      return this;
    }

    pragma(text: string, { simple = false }: { readonly simple?: boolean } = {}): unknown {
      const statement = this.prepare(`PRAGMA ${text}`);
      return simple ? statement.pluck().get() : statement.all();
    }

    transaction<Values extends unknown[], Result>(
      work: (...args: Values) => Result,
    ): TransactionFunction<Values, Result> {
      return createTransaction(this, work);
    }

    function(name: string, options: FunctionOptions, work: (...values: never[]) => unknown): this {
      const convert = (value: unknown) =>
        typeof value === "bigint" && !this.safeIntegers ? Number(value) : toBuffer(value);
      const call = (...values: unknown[]) => work(...(values.map(convert) as never[])) as Parameter;
      // The number of parameters that SQL has to give.
      Object.defineProperty(call, "length", { value: work.length });
      this.database.function(name, { ...options, useBigIntArguments: true }, call);
      return this;
    }

    defaultSafeIntegers(on = true): this {
      this.safeIntegers = on;
      return this;
    }

    unsafeMode(on = true): this {
      this.database.enableDefensive?.(!on);
      return this;
    }

    close(): void {
      if (this.database.isOpen) this.database.close();
    }
  };
}
