import { createError, type WriteContext } from "../../../src/plugin/index.js";
import { quoteIdentifier, quoteLiteral } from "../../shared/sql-identifiers.js";
import type { Connection } from "../connection/connection.js";
import { sqlStateOf } from "../connection/errors.js";
import type { TableDesign } from "./table-design.js";
import { findTable, sqlName, type TableName } from "./table-names.js";

export interface Replacement {
  readonly connection: Connection;
  readonly output: string;
  readonly context: WriteContext;
  readonly name: TableName;
  /** Temporary name of the new table. */
  readonly working: TableName;
  readonly design: TableDesign;
}

interface PreservedObject {
  readonly what: string;
  /** Null if it cannot be recreated. */
  readonly sql: string | null;
}

/** A serial default of the primary key, which the new table has too. */
const serialKey = `(pg_get_expr(adbin, adrelid) LIKE 'nextval(%' AND EXISTS (
  SELECT FROM pg_index WHERE indrelid = adrelid AND indisprimary AND indnkeyatts = 1 AND indkey[0] = adnum))`;

/** Reads owner, privileges, comments, defaults, constraints, indexes and triggers of a table. */
async function readPreserved({ connection, name, working, design }: Replacement): Promise<PreservedObject[]> {
  const table = quoteLiteral(sqlName(name));
  const geometry = design.geometry ? quoteLiteral(design.geometry.column) : "NULL";
  return connection.rows<PreservedObject>(`
    WITH old AS (SELECT * FROM pg_class WHERE oid = ${table}::regclass)
    SELECT 'owner' AS what, format('ALTER TABLE %s OWNER TO %I', ${table}, pg_get_userbyid(relowner)) AS sql
      FROM old WHERE pg_get_userbyid(relowner) <> current_user
    UNION ALL SELECT 'comment', format('COMMENT ON TABLE %s IS %L', ${table}, obj_description(oid, 'pg_class'))
      FROM old WHERE obj_description(oid, 'pg_class') IS NOT NULL
    UNION ALL SELECT format('comment on %I', attname),
        format('COMMENT ON COLUMN %s.%I IS %L', ${table}, attname, col_description(attrelid, attnum))
      FROM pg_attribute WHERE attrelid = ${table}::regclass AND col_description(attrelid, attnum) IS NOT NULL
    UNION ALL SELECT DISTINCT 'privileges', format('REVOKE ALL ON %s FROM %s', ${table},
        CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
      FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = ${quoteLiteral(sqlName(working))}::regclass AND grantee <> relowner
    UNION ALL SELECT format('grant to %s', grantee::regrole::text),
        format('GRANT %s ON %s TO %s%s', privilege_type, ${table},
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
               CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
      FROM old, aclexplode(relacl) WHERE grantee <> relowner
    UNION ALL SELECT format('grant on %I', attname),
        format('GRANT %s (%I) ON %s TO %s%s', privilege_type, attname, ${table},
               CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
               CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
      FROM pg_attribute, aclexplode(attacl) WHERE attrelid = ${table}::regclass AND NOT attisdropped
    UNION ALL SELECT format('index %I', i.relname), pg_get_indexdef(x.indexrelid)
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
      WHERE x.indrelid = ${table}::regclass AND NOT x.indisprimary
        AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.contype <> 'f')
        AND NOT (m.amname = 'gist' AND x.indnkeyatts = 1 AND x.indpred IS NULL AND x.indkey[0] =
          (SELECT attnum FROM pg_attribute WHERE attrelid = ${table}::regclass AND attname = ${geometry}))
    UNION ALL SELECT format('constraint %I', conname),
        format('ALTER TABLE %s ADD CONSTRAINT %I %s', ${table}, conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE conrelid = ${table}::regclass AND contype IN ('u', 'c', 'f', 'x')
    UNION ALL SELECT format('default of %I', attname),
        format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', ${table}, attname, pg_get_expr(adbin, adrelid))
      FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
      WHERE adrelid = ${table}::regclass AND attgenerated = '' AND NOT ${serialKey}
    UNION ALL SELECT format('NOT NULL of %I', attname),
        format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', ${table}, attname)
      FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND attnotnull AND NOT attisdropped
        AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND attnum = ANY (indkey))
    UNION ALL SELECT format('place in the publication %I', pubname),
        -- Conditions and lists of columns, from PostgreSQL 15 on, are not for a table of other columns.
        CASE WHEN coalesce(to_jsonb(r)->>'prqual', to_jsonb(r)->>'prattrs') IS NULL
          THEN format('ALTER PUBLICATION %I ADD TABLE %s', pubname, ${table}) END
      FROM pg_publication_rel r JOIN pg_publication p ON p.oid = prpubid WHERE prrelid = ${table}::regclass
    UNION ALL SELECT format('trigger %I', tgname), pg_get_triggerdef(oid)
      FROM pg_trigger WHERE tgrelid = ${table}::regclass AND NOT tgisinternal`);
}

/**
 * Replaces the old table, which stays readable until then. Recreates its owner, privileges, indexes, triggers and similar
 * as far as they fit. Fails if other objects depend on it.
 * @throws output-locked, unsupported
 */
export async function replaceTable(replacement: Replacement): Promise<void> {
  const { connection, output, context, name, working } = replacement;
  const source = `${output}: the table "${name.table}"`;
  const old = await findTable(connection, name);
  if (old?.rowSecurity) {
    const reason = "it has row-level security policies, which a new table would lose; truncate it and use --append";
    throw createError("unsupported", { source, reason });
  }
  if (old?.isChild) {
    const reason =
      "it is a partition or child of another table, which a new table would not be; truncate it and use --append";
    throw createError("unsupported", { source, reason });
  }
  if (old?.kind === "p")
    context.reportNotice("partitions-joined", undefined, `"${name.table}" was partitioned and is now a single table`);
  await connection.run(`LOCK TABLE ${sqlName(name)} IN ACCESS EXCLUSIVE MODE`);
  const kept = await readPreserved(replacement);
  try {
    await connection.run(`DROP TABLE ${sqlName(name)}`);
  } catch (error) {
    // Dependent objects still exist.
    if (sqlStateOf(error) !== "2BP01") throw error;
    const { detail = "" } = error as { detail?: string };
    const reason = `other objects depend on it: ${detail.replaceAll("\n", ", ")}; truncate it and use --append`;
    throw createError("unsupported", { source, reason }, error);
  }
  await connection.run(`ALTER TABLE ${sqlName(working)} RENAME TO ${quoteIdentifier(name.table)}`);
  for (const { what, sql } of kept) {
    try {
      if (sql === null) throw new Error("it refers to the previous columns");
      await connection.inSavepoint(() => connection.run(sql));
    } catch (error) {
      const example = `the ${what} does not fit the new table: ${(error as Error).message}`;
      context.reportNotice("definition-dropped", undefined, example);
    }
  }
}
