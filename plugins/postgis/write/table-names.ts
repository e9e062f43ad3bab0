import { createError } from "../../../src/plugin/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import type { Connection } from "../connection/connection.js";
import { parseQualifiedName } from "../identifiers.js";

export interface TableName {
  readonly schema: string;
  readonly table: string;
}

export const sqlName = ({ schema, table }: TableName): string => `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;

export interface ExistingTable {
  readonly oid: number;
  /** pg_class.relkind */
  readonly kind: string;
  readonly rowSecurity: boolean;
  /** Whether it is a partition or inherits from another table. */
  readonly isChild: boolean;
}

export async function findTable(connection: Connection, { schema, table }: TableName): Promise<ExistingTable | null> {
  const [row] = await connection.rows<ExistingTable>(
    `SELECT c.oid::int8 AS oid, relkind AS kind, relrowsecurity AS "rowSecurity",
            EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid) AS "isChild"
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = $2`,
    schema,
    table,
  );
  return row ?? null;
}

/**
 * Resolves a layer name: `schema.table` if that schema exists, else a table in the first schema of the search path. The
 * reader names layers the same way. @throws output-failed
 */
export async function resolveTableName(connection: Connection, output: string, name: string): Promise<TableName> {
  const [row] = await connection.rows<{ current: string | null; schemas: string[] }>(
    "SELECT current_schema() AS current, array_agg(nspname::text) AS schemas FROM pg_namespace",
  );
  const { current, schemas } = row!;
  const parts = parseQualifiedName(name);
  if (parts) return { schema: parts[0], table: parts[1] };
  if (current !== null && (await findTable(connection, { schema: current, table: name })))
    return { schema: current, table: name };
  for (let at = name.indexOf("."); at > 0; at = name.indexOf(".", at + 1)) {
    const schema = name.slice(0, at);
    if (schemas.includes(schema) && at + 1 < name.length) return { schema, table: name.slice(at + 1) };
  }
  if (current !== null) return { schema: current, table: name };
  const reason = "no schema of the search path exists; name one with --layer-name schema.table";
  throw createError("output-failed", { output, reason });
}
