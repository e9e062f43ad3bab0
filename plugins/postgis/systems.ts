import type { Crs } from "../../src/model/index.js";
import { createError, GeoferryError, type PluginContext, type WriteContext } from "../../src/plugin/index.js";
import { quoteIdentifier } from "../shared/sql-identifiers.js";
import type { Connection } from "./connection/connection.js";
import { sqlStateOf } from "./connection/errors.js";

/** The schema of PostGIS; null if it is not installed. */
export async function findPostgisSchema(connection: Connection): Promise<string | null> {
  const [row] = await connection.rows<{ schema: string }>(
    `SELECT nspname AS schema FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
     WHERE extname = 'postgis'`,
  );
  return row?.schema ?? null;
}

interface SrsRow {
  readonly srid: number;
  readonly organization: string | null;
  readonly code: number | null;
  readonly wkt: string | null;
  readonly proj: string | null;
}

/** Authorities that are looked up as `organization:code`. */
const knownOrganizations = /^(EPSG|ESRI|OGC|IGNF)$/;

/** CRS by SRID; null for 0 and, with a notice, for definitions that cannot be parsed. */
export async function readSystems(
  connection: Connection,
  schema: string,
  srids: readonly number[],
  context: Pick<PluginContext, "crs" | "reportNotice">,
): Promise<Map<number, Crs | null>> {
  const rows = await connection.rows<SrsRow>(
    `SELECT srid, upper(auth_name) AS organization, auth_srid AS code, srtext AS wkt, proj4text AS proj
     FROM ${quoteIdentifier(schema)}.spatial_ref_sys WHERE srid = ANY($1::int[])`,
    [...srids],
  );
  const systems = new Map<number, Crs | null>([[0, null]]);
  for (const srid of srids) {
    if (systems.has(srid)) continue;
    const row = rows.find((each) => each.srid === srid);
    systems.set(srid, row ? await parseSystem(row, context) : null);
    const what = row ? "cannot be parsed" : "is missing";
    if (systems.get(srid) === null)
      context.reportNotice("crs-unreadable", undefined, `the row of spatial_ref_sys for SRID ${srid} ${what}`);
  }
  return systems;
}

async function parseSystem(row: SrsRow, { crs }: Pick<PluginContext, "crs">): Promise<Crs | null> {
  const named = knownOrganizations.test(row.organization ?? "") && row.code ? [`${row.organization}:${row.code}`] : [];
  for (const definition of [...named, row.wkt, row.proj]) {
    if (!definition?.trim()) continue;
    try {
      return await crs.parse(definition);
    } catch (error) {
      if (!(error instanceof GeoferryError)) throw error;
    }
  }
  return null;
}

/** SRIDs for CRS without a known code, in PostGIS's user range. */
const [firstCustomSrid, lastCustomSrid] = [910_000, 998_999] as const;

/**
 * Finds the SRID of a CRS in this database, or adds a row to spatial_ref_sys.
 * @throws crs-not-writable, database-forbidden
 */
export async function findOrInsertSrid(
  connection: Connection,
  schema: string,
  crs: Crs,
  { name, context }: { readonly name: string; readonly context: WriteContext },
): Promise<number> {
  const table = `${quoteIdentifier(schema)}.spatial_ref_sys`;
  // PostGIS coordinates are x, y regardless of the axis order of the CRS, so the two are the same.
  const id = crs.id === "OGC:CRS84" ? "EPSG:4326" : crs.id;
  const [, organization = null, code = null] = /^(EPSG|ESRI|IGNF):(\d{1,9})$/.exec(id ?? "") ?? [];
  const [wkt1, wkt2] = [await context.crs.toWkt(crs, "wkt1"), await context.crs.toWkt(crs, "wkt2")];
  const wkt = wkt1 ?? wkt2;
  const find = `SELECT srid FROM ${table} WHERE CASE WHEN $1::text IS NULL THEN srtext = $3
      ELSE upper(auth_name) = $1 AND auth_srid = $2::int END ORDER BY srid LIMIT 1`;
  const [found] = await connection.rows<{ srid: number }>(find, organization, code, wkt);
  if (found) return found.srid;
  if (wkt === null) throw createError("crs-not-writable", { format: "postgis", crs: crs.id ?? crs.name });
  // Locked, since other sessions may add rows at the same time.
  const add = `INSERT INTO ${table} (srid, auth_name, auth_srid, srtext, proj4text)
      SELECT free, coalesce($1, 'geoferry'), coalesce($2::int, free), $3, '' FROM (
        SELECT CASE WHEN $2::int <= ${lastCustomSrid} AND NOT EXISTS (SELECT FROM ${table} WHERE srid = $2::int) THEN $2::int
          ELSE (SELECT coalesce(max(srid), ${firstCustomSrid - 1}) + 1 FROM ${table}
                WHERE srid BETWEEN ${firstCustomSrid} AND ${lastCustomSrid}) END AS free) AS numbers
      RETURNING srid`;
  try {
    await connection.run(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    const [added] = await connection.rows<{ srid: number }>(add, organization, code, wkt);
    context.reportNotice(
      "crs-added",
      undefined,
      `added a row to spatial_ref_sys for ${crs.id ?? crs.name}, SRID ${added!.srid}`,
    );
    return added!.srid;
  } catch (error) {
    if (sqlStateOf(error) !== "42501") throw error;
    const reason = `spatial_ref_sys has no row for ${crs.id ?? crs.name}, and this user may not add one`;
    throw createError("database-forbidden", { database: name, reason }, error);
  }
}
