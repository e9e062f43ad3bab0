import type { Crs } from "../../../src/model/index.js";
import { GeoferryError, type ReadContext } from "../../../src/plugin/index.js";
import type { SqliteValue } from "../sqlite/values.js";

type SrsRow = ReadonlyMap<string, SqliteValue>;

const toTextOrEmpty = (value: SqliteValue | undefined): string => (typeof value === "string" ? value.trim() : "");
/** Local and engineering CRS cannot be transformed, so they count as undefined. */
const isUndefinedCrs = (definition: string): boolean =>
  /^(undefined)?$|^(LOCAL_CS|ENGCRS|ENGINEERINGCRS)\b/i.test(definition);

/** Authorities that are looked up as `organization:code`. */
const knownOrganizations = ["EPSG", "ESRI", "OGC", "IGNF"];

/**
 * The CRS of a row of gpkg_spatial_ref_sys, by its code, else its WKT 2 (extension gpkg_crs_wkt), else its WKT 1. Null if
 * it is undefined (-1 and 0) or, with a notice, if it cannot be parsed.
 */
export async function readSrs(row: SrsRow | undefined, srsId: number, context: ReadContext): Promise<Crs | null> {
  if (srsId === 0 || srsId === -1) return null;
  if (!row) {
    context.reportNotice("crs-unreadable", undefined, `gpkg_spatial_ref_sys has no row for srs_id ${srsId}`);
    return null;
  }
  const definitions = [toTextOrEmpty(row.get("definition_12_063")), toTextOrEmpty(row.get("definition"))].filter(
    (definition) => !isUndefinedCrs(definition),
  );
  const organization = toTextOrEmpty(row.get("organization")).toUpperCase();
  const code = Number(row.get("organization_coordsys_id"));
  const named = knownOrganizations.includes(organization) && code > 0 ? [`${organization}:${code}`] : [];
  if (named.length === 0 && definitions.length === 0) return null;
  for (const definition of [...named, ...definitions]) {
    try {
      return await context.crs.parse(definition);
    } catch (error) {
      if (!(error instanceof GeoferryError)) throw error;
    }
  }
  context.reportNotice("crs-unreadable", undefined, `the definition of srs_id ${srsId} cannot be parsed`);
  return null;
}
