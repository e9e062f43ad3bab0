import type { FieldType } from "../../../src/model/index.js";
import type { SqliteValue } from "../sqlite/values.js";

/** Requests to the query process, one at a time. */
export type QueryRequest =
  /** Opens a database and prepares a query for all rows of a table or view. */
  | { readonly kind: "open"; readonly path: string; readonly table: string }
  /** Infers the types of these columns from all values. */
  | { readonly kind: "types"; readonly columns: readonly number[] }
  /** Returns the next rows, or the first ones after a restart. */
  | { readonly kind: "rows"; readonly restart: boolean };

export interface QueriedColumn {
  readonly name: string;
  /** Declared type of the underlying table column; null for an expression. */
  readonly declared: string | null;
}

export type QueryReply =
  | { readonly kind: "open"; readonly columns: readonly QueriedColumn[] }
  | { readonly kind: "types"; readonly types: readonly (FieldType | null)[] }
  | { readonly kind: "rows"; readonly rows: readonly (readonly SqliteValue[])[]; readonly done: boolean }
  | { readonly kind: "error"; readonly message: string };
