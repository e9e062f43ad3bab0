import type { Crs } from "../../../src/model/index.js";
import { createError, type WriteContext } from "../../../src/plugin/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { geometryModifier, isGeometry, TypeCatalog } from "../column-types.js";
import type { Connection } from "../connection/connection.js";
import { findOrInsertSrid, readSystems } from "../systems.js";
import { sqlName, type TableName } from "./table-names.js";

/**
 * The SRID that rows for a table that is there get: the one that it declares, or that its geometries have; of an empty
 * table that declares none, that of what comes. @throws unsupported where what comes is in another system
 */
export async function resolveTargetSrid(
  connection: Connection,
  postgis: string,
  name: TableName,
  crs: Crs | null,
  told: { readonly name: string; readonly context: WriteContext },
): Promise<number> {
  const held = await readTableSrid(connection, postgis, name);
  if (held === 0) return crs ? findOrInsertSrid(connection, postgis, crs, told) : 0;
  const own = (await readSystems(connection, postgis, [held], told.context)).get(held) ?? null;
  const isSame =
    crs === null || own === null || (own.id === null ? own.definition === crs.definition : own.id === crs.id);
  if (isSame) return held;
  const reason = `it is in ${own.id ?? own.name}, and what is to be added in ${crs.id ?? crs.name}; call it as geoferry info does`;
  throw createError("unsupported", { source: told.name, place: { layer: name.table }, reason });
}

async function readTableSrid(connection: Connection, postgis: string, name: TableName): Promise<number> {
  const types = new TypeCatalog(connection);
  const columns = await connection.rows<{ name: string; type: number; modifier: number }>(
    `SELECT attname AS name, atttypid::int8 AS type, atttypmod AS modifier FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    sqlName(name),
  );
  await types.learn(columns.map(({ type }) => type));
  const column = columns.find(({ type, modifier }) => isGeometry(types.factsOf(type, modifier)));
  if (!column) return 0;
  const { srid } = geometryModifier(types.factsOf(column.type, column.modifier));
  if (srid > 0) return srid;
  const [row] = await connection.rows<{ srid: number }>(
    `SELECT ${quoteIdentifier(postgis)}.st_srid(${quoteIdentifier(column.name)}::${quoteIdentifier(postgis)}.geometry) AS srid
     FROM ${sqlName(name)} WHERE ${quoteIdentifier(column.name)} IS NOT NULL LIMIT 1`,
  );
  return row?.srid ?? 0;
}
