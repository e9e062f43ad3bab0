/**
 * The part of better-sqlite3's interface that geoferry uses. Each driver implements it: better-sqlite3 itself, Node's
 * `node:sqlite`, and SQLite's WebAssembly build.
 */

/** A value that SQLite stores. Integers come back as bigints where `safeIntegers` is on, blobs as Buffers. */
export type SqlValue = number | bigint | string | Uint8Array | null;

export interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

/** Parameters are given one by one, as one array, or as one object of named ones. */
export interface Statement<Parameters extends unknown[] = unknown[], Row = unknown> {
  run(...parameters: Parameters): RunResult;
  get(...parameters: Parameters): Row | undefined;
  all(...parameters: Parameters): Row[];
  iterate(...parameters: Parameters): IterableIterator<Row>;
  /** Returns only the first column of each row. */
  pluck(on?: boolean): Statement<Parameters, Row>;
  /** Returns rows as arrays. */
  raw(on?: boolean): Statement<Parameters, Row>;
  /** Returns integers as bigints. */
  safeIntegers(on?: boolean): Statement<Parameters, Row>;
  columns(): { readonly name: string; readonly type: string | null }[];
}

export interface FunctionOptions {
  readonly deterministic?: boolean;
  /** Not callable from triggers, views and schemas. */
  readonly directOnly?: boolean;
}

/** A function that runs in a transaction, or in a savepoint inside one. */
export interface TransactionFunction<Arguments extends unknown[], Result> {
  (...args: Arguments): Result;
  /** Locks the database for writing at once (`BEGIN IMMEDIATE`). */
  immediate(...args: Arguments): Result;
}

export interface Database {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare<Parameters extends unknown[] = unknown[], Row = unknown>(sql: string): Statement<Parameters, Row>;
  exec(sql: string): unknown;
  /** Runs a PRAGMA. Returns its rows, or with `simple` the first column of the first row. */
  pragma(text: string, options?: { readonly simple?: boolean }): unknown;
  transaction<Arguments extends unknown[], Result>(
    work: (...args: Arguments) => Result,
  ): TransactionFunction<Arguments, Result>;
  function(name: string, options: FunctionOptions, work: (...values: never[]) => unknown): unknown;
  defaultSafeIntegers(on?: boolean): unknown;
  /** Allows writes to `sqlite_master` under `PRAGMA writable_schema`. */
  unsafeMode(on?: boolean): unknown;
  close(): unknown;
}

export interface OpenOptions {
  readonly readonly?: boolean;
  readonly fileMustExist?: boolean;
  /** Milliseconds to wait for a lock; 5,000 by default. */
  readonly timeout?: number;
}

/** SQLite as a driver provides it: a constructor of databases. @throws errors with a code of SQLite */
export type SqliteDriver = new (path: string, options?: OpenOptions) => Database;

/** An error of SQLite. `code` is the name of the extended result code, such as `SQLITE_BUSY_SNAPSHOT`. */
export class SqliteError extends Error {
  override readonly name = "SqliteError";

  constructor(
    message: string,
    readonly code: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The code of an error of SQLite from any driver, such as `SQLITE_BUSY`; undefined for other errors. */
export function sqliteErrorCode(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : undefined;
}
