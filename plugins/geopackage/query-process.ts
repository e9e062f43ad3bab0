/**
 * The entry of a process that runs the SQL of views and generated columns. SQL of a stranger may never end or fill the
 * memory, and better-sqlite3 cannot be stopped from within: the process can be, from without.
 */
import type { Database, Statement } from "better-sqlite3";
import type { FieldType } from "../../src/model/index.js";
import { quoted } from "../shared/sql-names.js";
import type { QueryReply, QueryRequest } from "./query-protocol.js";
import { loadSqlite } from "./sqlite-library.js";
import type { SqliteValue } from "./sqlite-values.js";
import { typeOfStored, uniteStored } from "./table-survey.js";

const replyRows = 512;
const replyBytes = 1 << 20;

let database: Database | undefined;
let statement: Statement<[], SqliteValue[]> | undefined;
let rows: IterableIterator<SqliteValue[]> | undefined;

async function open(path: string, table: string): Promise<QueryReply> {
  const Sqlite = await loadSqlite();
  database = new Sqlite(path, { readonly: true, fileMustExist: true });
  database.pragma("trusted_schema = OFF");
  database.pragma("cell_size_check = ON");
  database.pragma("query_only = ON");
  database.pragma("mmap_size = 0");
  statement = database
    .prepare<[], SqliteValue[]>(`SELECT * FROM ${quoted(table)}`)
    .safeIntegers(true)
    .raw(true);
  const columns = statement.columns().map(({ name, type }) => ({ name, declared: type }));
  return { kind: "open", columns };
}

function types(columns: readonly number[]): QueryReply {
  const found: (FieldType | null)[] = columns.map(() => null);
  for (const row of statement!.iterate()) {
    columns.forEach((c, i) => {
      const type = typeOfStored(row[c] ?? null);
      const known = found[i] ?? null;
      if (type !== null) found[i] = known === null ? type : uniteStored(known, type);
    });
  }
  return { kind: "types", types: found };
}

const sizeOf = (value: SqliteValue): number =>
  typeof value === "string" || value instanceof Uint8Array ? value.length : 8;

function next(restart: boolean): QueryReply {
  if (restart) {
    rows?.return?.();
    rows = undefined;
  }
  rows ??= statement!.iterate();
  const found: SqliteValue[][] = [];
  for (let bytes = 0; found.length < replyRows && bytes < replyBytes; ) {
    const { value, done } = rows.next();
    if (done) {
      rows = undefined;
      return { kind: "rows", rows: found, done: true };
    }
    found.push(value);
    for (const each of value) bytes += sizeOf(each);
  }
  return { kind: "rows", rows: found, done: false };
}

async function answer(request: QueryRequest): Promise<QueryReply> {
  if (request.kind === "open") return open(request.path, request.table);
  return request.kind === "types" ? types(request.columns) : next(request.restart);
}

process.on("message", (request: QueryRequest) => {
  answer(request).then(
    (reply) => process.send!(reply),
    (error: Error) => {
      process.send!({ kind: "error", message: error.message } satisfies QueryReply);
    },
  );
});
process.on("disconnect", () => process.exit());
