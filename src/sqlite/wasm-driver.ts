import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import initialize, {
  type PreparedStatement,
  type Sqlite3Static,
  type Database as WasmConnection,
} from "@sqlite.org/sqlite-wasm";
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
import { installFileSystem, vfsName } from "./wasm-vfs.js";

/** The module takes Emscripten's options, which its type leaves out. */
const initializeWith = initialize as (options: { readonly wasmBinary: Uint8Array }) => Promise<Sqlite3Static>;

let loading: Promise<SqliteDriver> | undefined;

/** Loads SQLite's WebAssembly build, which takes 30 ms. @throws Error if the file of the package is missing */
export function loadWasmDriver(): Promise<SqliteDriver> {
  loading ??= load();
  return loading;
}

async function load(): Promise<SqliteDriver> {
  const wasmBinary = readFileSync(createRequire(import.meta.url).resolve("#sqlite-wasm"));
  const library = await initializeWith({ wasmBinary });
  installFileSystem(library);
  return createWasmDriver(library);
}

function createWasmDriver({ capi, oo1 }: Sqlite3Static): SqliteDriver {
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const { resultCode, message } = error as { resultCode?: unknown; message: string };
      if (typeof resultCode !== "number") throw error;
      // The library puts the name of the code before the message of SQLite.
      const text = message.replace(/^SQLITE_\w+: (sqlite3 result code \d+: )?/, "");
      throw new SqliteError(text, resultCodeName(resultCode), { cause: error });
    }
  };

  class WasmStatement<Values extends unknown[], Row> implements Statement<Values, Row> {
    private isPlucked = false;
    private isRaw = false;
    private readonly names: readonly string[];

    constructor(
      private readonly database: WasmConnection,
      private readonly statement: PreparedStatement,
      private hasSafeIntegers: boolean,
    ) {
      this.names = statement.columnCount > 0 ? statement.getColumnNames() : [];
    }

    private bind(parameters: readonly unknown[]): void {
      const [first] = parameters;
      this.statement.reset();
      this.statement.clearBindings();
      const isNamed =
        parameters.length === 1 && typeof first === "object" && first !== null && !(first instanceof Uint8Array);
      if (isNamed && !Array.isArray(first)) {
        for (const [name, value] of Object.entries(first)) {
          const index = ["@", ":", "$"].map((sign) => this.statement.getParamIndex(sign + name)).find(Boolean);
          if (index) this.bindValue(index, value as SqlValue);
        }
        return;
      }
      const values = (isNamed ? first : parameters) as readonly SqlValue[];
      for (let i = 0; i < values.length; i++) this.bindValue(i + 1, values[i]!);
    }

    /** Numbers are bound as REAL and bigints as INTEGER, as the other drivers do. */
    private bindValue(index: number, value: SqlValue): void {
      const pointer = this.statement.pointer!;
      if (value === undefined || typeof value === "boolean")
        throw new TypeError("SQLite3 can only bind numbers, strings, bigints, buffers, and null");
      if (typeof value === "number") capi.sqlite3_bind_double(pointer, index, value);
      else if (typeof value === "bigint") capi.sqlite3_bind_int64(pointer, index, value);
      else if (value instanceof Uint8Array) this.statement.bindAsBlob(index, value);
      else this.statement.bind(index, value);
    }

    private value(column: number): SqlValue {
      const pointer = this.statement.pointer!;
      switch (capi.sqlite3_column_type(pointer, column)) {
        case capi.SQLITE_INTEGER: {
          const integer = capi.sqlite3_column_int64(pointer, column);
          return this.hasSafeIntegers ? integer : Number(integer);
        }
        case capi.SQLITE_FLOAT:
          return capi.sqlite3_column_double(pointer, column);
        case capi.SQLITE_TEXT:
          return this.statement.getString(column);
        case capi.SQLITE_BLOB: {
          const bytes = this.statement.getBlob(column) ?? new Uint8Array();
          return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        }
        default:
          return null;
      }
    }

    private row(): Row {
      const { names } = this;
      if (this.isPlucked) return this.value(0) as Row;
      const values = names.map((_, column) => this.value(column));
      return (this.isRaw ? values : Object.fromEntries(names.map((name, i) => [name, values[i]]))) as Row;
    }

    run(...parameters: Values): RunResult {
      return attempt(() => {
        this.bind(parameters);
        try {
          while (this.statement.step());
        } finally {
          this.statement.reset();
        }
        const rowid = capi.sqlite3_last_insert_rowid(this.database.pointer!);
        return {
          changes: capi.sqlite3_changes(this.database.pointer!),
          lastInsertRowid: this.hasSafeIntegers ? rowid : Number(rowid),
        };
      });
    }

    get(...parameters: Values): Row | undefined {
      return attempt(() => {
        this.bind(parameters);
        try {
          return this.statement.step() ? this.row() : undefined;
        } finally {
          this.statement.reset();
        }
      });
    }

    all(...parameters: Values): Row[] {
      return [...this.iterate(...parameters)];
    }

    *iterate(...parameters: Values): IterableIterator<Row> {
      attempt(() => this.bind(parameters));
      try {
        while (attempt(() => this.statement.step())) yield this.row();
      } finally {
        this.statement.reset();
      }
    }

    pluck(on = true): this {
      this.isPlucked = on;
      return this;
    }

    raw(on = true): this {
      this.isRaw = on;
      return this;
    }

    safeIntegers(on = true): this {
      this.hasSafeIntegers = on;
      return this;
    }

    columns(): { name: string; type: string | null }[] {
      return this.names.map((name, column) => ({
        name,
        type: capi.sqlite3_column_decltype(this.statement.pointer!, column) ?? null,
      }));
    }
  }

  return class WasmDatabase implements Database {
    private readonly database: WasmConnection;
    private hasSafeIntegers = false;

    constructor(path: string, { readonly = false, fileMustExist = false }: OpenOptions = {}) {
      if ((readonly || fileMustExist) && path !== ":memory:" && !existsSync(path))
        throw new SqliteError("unable to open database file", "SQLITE_CANTOPEN");
      const flags = readonly ? "r" : "cw";
      this.database = attempt(() =>
        path === ":memory:" ? new oo1.DB(path) : new oo1.DB({ filename: path, flags, vfs: vfsName }),
      );
      capi.sqlite3_extended_result_codes(this.database.pointer!, 1);
      this.database.exec("PRAGMA foreign_keys = ON");
    }

    get open(): boolean {
      return this.database.isOpen();
    }

    get inTransaction(): boolean {
      return capi.sqlite3_get_autocommit(this.database.pointer!) === 0;
    }

    prepare<Values extends unknown[], Row>(sql: string): Statement<Values, Row> {
      return attempt(
        () => new WasmStatement<Values, Row>(this.database, this.database.prepare(sql), this.hasSafeIntegers),
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

    function(
      name: string,
      { deterministic, directOnly }: FunctionOptions,
      work: (...values: never[]) => unknown,
    ): this {
      const convert = (value: unknown) => {
        if (value instanceof Uint8Array) return Buffer.from(value);
        return typeof value === "bigint" && !this.hasSafeIntegers ? Number(value) : value;
      };
      this.database.createFunction({
        name,
        xFunc: (_context: number, ...values: unknown[]) => work(...(values.map(convert) as never[])) as never,
        arity: work.length,
        deterministic: deterministic ?? false,
        directOnly: directOnly ?? false,
      });
      return this;
    }

    defaultSafeIntegers(on = true): this {
      this.hasSafeIntegers = on;
      return this;
    }

    /** This build is never defensive. */
    unsafeMode(): this {
      return this;
    }

    /** Finalizes the statements, too. */
    close(): void {
      if (this.database.isOpen()) this.database.close();
    }
  };
}
