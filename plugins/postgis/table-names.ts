import { fault } from "../../src/plugin/index.js";
import { quoted } from "../shared/sql-names.js";
import type { Connection } from "./connection.js";
import { qualifiedParts } from "./identifiers.js";

export interface TableName {
  readonly schema: string;
  readonly table: string;
}

export const sqlName = ({ schema, table }: TableName): string => `${quoted(schema)}.${quoted(table)}`;

/** What there is under a name. */
export interface Existing {
  readonly oid: number;
  /** pg_class.relkind */
  readonly kind: string;
  readonly rowSecurity: boolean;
  /** A partition, or a child of another table, whose rows it has too. */
  readonly isChild: boolean;
}

export async function existingTable(connection: Connection, { schema, table }: TableName): Promise<Existing | null> {
  const [row] = await connection.rows<Existing>(
    `SELECT c.oid::int8 AS oid, relkind AS kind, relrowsecurity AS "rowSecurity",
            EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid) AS "isChild"
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = $2`,
    schema,
    table,
  );
  return row ?? null;
}

/**
 * The table that a layer's name stands for: of the schema that comes first on the search path, or `schema.table` where
 * there is such a schema. The reader calls tables so. @throws output-failed
 */
export async function tableNamed(connection: Connection, output: string, name: string): Promise<TableName> {
  const [row] = await connection.rows<{ current: string | null; schemas: string[] }>(
    "SELECT current_schema() AS current, array_agg(nspname::text) AS schemas FROM pg_namespace",
  );
  const { current, schemas } = row!;
  const parts = qualifiedParts(name);
  if (parts) return { schema: parts[0], table: parts[1] };
  if (current !== null && (await existingTable(connection, { schema: current, table: name })))
    return { schema: current, table: name };
  for (let at = name.indexOf("."); at > 0; at = name.indexOf(".", at + 1)) {
    const schema = name.slice(0, at);
    if (schemas.includes(schema) && at + 1 < name.length) return { schema, table: name.slice(at + 1) };
  }
  if (current !== null) return { schema: current, table: name };
  const reason = "no schema of the search path is there; name one: --layer-name schema.table";
  throw fault("output-failed", { output, reason });
}
