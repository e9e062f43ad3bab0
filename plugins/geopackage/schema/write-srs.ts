import type { Crs } from "../../../src/model/index.js";
import { createError, type WriteContext } from "../../../src/plugin/index.js";
import { crsAuthority } from "./layer-design.js";

/** A row of gpkg_spatial_ref_sys. */
export interface SrsRecord {
  readonly name: string;
  readonly srsId: number;
  readonly organization: string;
  readonly code: number;
  /** WKT 1, or "undefined" if WKT 1 cannot express the CRS. */
  readonly definition: string;
  /** WKT 2 if WKT 1 cannot express the CRS. */
  readonly definition12063: string | null;
  readonly description: string | null;
}

/** Required rows (Requirement 11), except WGS 84. */
export const undefinedSrsRecords: readonly SrsRecord[] = [
  {
    name: "Undefined Cartesian SRS",
    srsId: -1,
    organization: "NONE",
    code: -1,
    definition: "undefined",
    definition12063: null,
    description: "undefined Cartesian coordinate reference system",
  },
  {
    name: "Undefined geographic SRS",
    srsId: 0,
    organization: "NONE",
    code: 0,
    definition: "undefined",
    definition12063: null,
    description: "undefined geographic coordinate reference system",
  },
];

/** @throws crs-not-writable */
export async function createSrsRecord(crs: Crs, srsId: number, context: WriteContext): Promise<SrsRecord> {
  const [organization, code] = crsAuthority(crs);
  const plain = organization === "EPSG" && code === 4326 ? context.crs.wgs84 : crs;
  const definition = await context.crs.toWkt(plain, "wkt1");
  const second = definition === null ? await context.crs.toWkt(plain, "wkt2") : null;
  if (definition === null && second === null)
    throw createError("crs-not-writable", { format: "geopackage", crs: crs.name });
  return {
    name: plain.name,
    srsId,
    organization,
    code: organization === "NONE" ? srsId : code,
    definition: definition ?? "undefined",
    definition12063: second,
    description: null,
  };
}
