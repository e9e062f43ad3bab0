import type { FieldType } from "../../../src/model/index.js";
import type { SqliteValue } from "../sqlite/values.js";

/** What the process that runs queries is asked, one thing after the other. */
export type QueryRequest =
  /** To open a database and prepare all rows of a table or view of it. */
  | { readonly kind: "open"; readonly path: string; readonly table: string }
  /** To look at all values of these columns for their types. */
  | { readonly kind: "types"; readonly columns: readonly number[] }
  /** For the first rows, or the next ones. */
  | { readonly kind: "rows"; readonly restart: boolean };

export interface QueriedColumn {
  readonly name: string;
  /** As the table declares it that the column is taken from; null for an expression. */
  readonly declared: string | null;
}

export type QueryReply =
  | { readonly kind: "open"; readonly columns: readonly QueriedColumn[] }
  | { readonly kind: "types"; readonly types: readonly (FieldType | null)[] }
  | { readonly kind: "rows"; readonly rows: readonly (readonly SqliteValue[])[]; readonly done: boolean }
  | { readonly kind: "error"; readonly message: string };
