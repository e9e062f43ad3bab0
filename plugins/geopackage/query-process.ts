/**
 * Entry point of the process that runs the SQL of views and generated columns. Untrusted SQL may run forever or exhaust
 * memory, and a synchronous SQLite call cannot be interrupted in its own process, so the parent kills this one.
 */

import type { FieldType } from "../../src/model/index.js";
import { type Database, loadSqlite, type Statement } from "../../src/sqlite/index.js";
import { quoteIdentifier } from "../shared/sql-identifiers.js";
import { typeOfStoredValue, uniteStoredTypes } from "./read/infer-types.js";
import type { QueryReply, QueryRequest } from "./sql/query-protocol.js";
import type { SqliteValue } from "./sqlite/values.js";

const replyRows = 512;
const replyBytes = 1 << 20;

let openedDatabase: Database | undefined;
let rowStatement: Statement<[], SqliteValue[]> | undefined;
let rowIterator: IterableIterator<SqliteValue[]> | undefined;

async function open(path: string, table: string): Promise<QueryReply> {
  const Sqlite = await loadSqlite();
  openedDatabase = new Sqlite(path, { readonly: true, fileMustExist: true });
  openedDatabase.pragma("trusted_schema = OFF");
  openedDatabase.pragma("cell_size_check = ON");
  openedDatabase.pragma("query_only = ON");
  openedDatabase.pragma("mmap_size = 0");
  rowStatement = openedDatabase
    .prepare<[], SqliteValue[]>(`SELECT * FROM ${quoteIdentifier(table)}`)
    .safeIntegers(true)
    .raw(true);
  const columns = rowStatement.columns().map(({ name, type }) => ({ name, declared: type }));
  return { kind: "open", columns };
}

function inferTypes(columns: readonly number[]): QueryReply {
  const found: (FieldType | null)[] = columns.map(() => null);
  for (const row of rowStatement!.iterate()) {
    columns.forEach((c, i) => {
      const type = typeOfStoredValue(row[c] ?? null);
      const known = found[i] ?? null;
      if (type !== null) found[i] = known === null ? type : uniteStoredTypes(known, type);
    });
  }
  return { kind: "types", types: found };
}

const valueBytes = (value: SqliteValue): number =>
  typeof value === "string" || value instanceof Uint8Array ? value.length : 8;

function nextRows(restart: boolean): QueryReply {
  if (restart) {
    rowIterator?.return?.();
    rowIterator = undefined;
  }
  rowIterator ??= rowStatement!.iterate();
  const found: SqliteValue[][] = [];
  for (let bytes = 0; found.length < replyRows && bytes < replyBytes; ) {
    const { value, done } = rowIterator.next();
    if (done) {
      rowIterator = undefined;
      return { kind: "rows", rows: found, done: true };
    }
    found.push(value);
    for (const each of value) bytes += valueBytes(each);
  }
  return { kind: "rows", rows: found, done: false };
}

async function handleRequest(request: QueryRequest): Promise<QueryReply> {
  if (request.kind === "open") return open(request.path, request.table);
  return request.kind === "types" ? inferTypes(request.columns) : nextRows(request.restart);
}

process.on("message", (request: QueryRequest) => {
  handleRequest(request).then(
    (reply) => process.send!(reply),
    (error: Error) => {
      process.send!({ kind: "error", message: error.message } satisfies QueryReply);
    },
  );
});
process.on("disconnect", () => process.exit());
