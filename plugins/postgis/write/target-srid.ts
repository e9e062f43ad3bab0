import type { Crs } from "../../../src/model/index.js";
import { createError, type WriteContext } from "../../../src/plugin/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { geometryModifier, isGeometry, TypeCatalog } from "../column-types.js";
import type { Connection } from "../connection/connection.js";
import { findOrInsertSrid, readSystems } from "../systems.js";
import { sqlName, type TableName } from "./table-names.js";

/**
 * SRID for rows of an existing table: its declared SRID, else that of its geometries, else that of the input. @throws
 * unsupported if the input has another CRS
 */
export async function resolveTargetSrid(
  connection: Connection,
  postgis: string,
  name: TableName,
  crs: Crs | null,
  target: { readonly name: string; readonly context: WriteContext },
): Promise<number> {
  const held = await readTableSrid(connection, postgis, name);
  if (held === 0) return crs ? findOrInsertSrid(connection, postgis, crs, target) : 0;
  const own = (await readSystems(connection, postgis, [held], target.context)).get(held) ?? null;
  const isSame =
    crs === null || own === null || (own.id === null ? own.definition === crs.definition : own.id === crs.id);
  if (isSame) return held;
  const reason = `its CRS is ${own.id ?? own.name}, but the input's is ${crs.id ?? crs.name}; reproject with --target-crs to the CRS that "geoferry info" shows for the table`;
  throw createError("unsupported", { source: target.name, place: { layer: name.table }, reason });
}

async function readTableSrid(connection: Connection, postgis: string, name: TableName): Promise<number> {
  const types = new TypeCatalog(connection);
  const columns = await connection.rows<{ name: string; type: number; modifier: number }>(
    `SELECT attname AS name, atttypid::int8 AS type, atttypmod AS modifier FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    sqlName(name),
  );
  await types.load(columns.map(({ type }) => type));
  const column = columns.find(({ type, modifier }) => isGeometry(types.typeOf(type, modifier)));
  if (!column) return 0;
  const { srid } = geometryModifier(types.typeOf(column.type, column.modifier));
  if (srid > 0) return srid;
  const [row] = await connection.rows<{ srid: number }>(
    `SELECT ${quoteIdentifier(postgis)}.st_srid(${quoteIdentifier(column.name)}::${quoteIdentifier(postgis)}.geometry) AS srid
     FROM ${sqlName(name)} WHERE ${quoteIdentifier(column.name)} IS NOT NULL LIMIT 1`,
  );
  return row?.srid ?? 0;
}
