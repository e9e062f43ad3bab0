import { isUtf8 } from "node:buffer";
import { GeometryBuilder } from "../../../../src/model/geometry-builder.js";
import type { Crs } from "../../../../src/model/layer.js";
import type { ReadContext, Source } from "../../../../src/plugin/format.js";
import type { ColumnSamples } from "../columns/samples.js";
import type { Notices } from "../header/first-record.js";
import { GeometryCellParser } from "./geometry-cell-parser.js";
import type { GeometryPlan } from "./geometry-columns.js";

/** The text of the sibling file with this extension, null if there is none. */
export async function readSiblingText(source: Source, extension: string, context: ReadContext): Promise<string | null> {
  const sibling = source.findSibling(extension);
  if (!sibling) return null;
  const file = await sibling.open();
  try {
    const bytes = await file.read(0, 1 << 20);
    return isUtf8(bytes) ? bytes.toString("utf8") : context.getTextDecoder("windows-1252")(bytes);
  } finally {
    await file.close();
  }
}

/** The content of the sibling `.prj`, and the notice to report if it is used. */
export interface PrjResult {
  readonly crs: Crs | null;
  readonly notices: Notices;
}

export async function readPrj(source: Source, context: ReadContext): Promise<PrjResult> {
  const nothing = (...notices: Notices): PrjResult => ({ crs: null, notices });
  if (source.findSibling("shp")) {
    if (!source.findSibling("prj")) return nothing();
    return nothing(["prj-of-shapefile", undefined, "the .prj belongs to the .shp beside it and was left aside"]);
  }
  const text = (await readSiblingText(source, "prj", context))?.replace(/^\uFEFF/, "").trim();
  if (!text) return nothing();
  try {
    return { crs: await context.crs.parse(text), notices: [] };
  } catch (error) {
    return nothing(["crs-unreadable", undefined, `the .prj file: ${(error as Error).message}`]);
  }
}

/** The SRID in the first geometries. */
export function detectSrid(geometry: GeometryPlan, samples: ColumnSamples): number | null {
  if (geometry.kind !== "text") return null;
  const cells = new GeometryCellParser();
  for (const text of samples.of(geometry.column)) {
    const bytes = Buffer.from(text);
    try {
      cells.read(bytes, 0, bytes.length, new GeometryBuilder());
    } catch {
      continue;
    }
    if (cells.srid !== null && cells.srid > 0) return cells.srid;
  }
  return null;
}

/** The CRS by the SRID in the geometries, else by the .prj; null if neither names a known CRS. */
export async function resolveCrs(
  geometry: GeometryPlan,
  srid: number | null,
  samples: ColumnSamples,
  context: ReadContext,
  notices: Notices,
  ofPrj: PrjResult,
): Promise<Crs | null> {
  if (geometry.kind === "none") return null;
  if (srid !== null) {
    try {
      return await context.crs.parse(`EPSG:${srid}`);
    } catch (error) {
      notices.push(["crs-unreadable", undefined, (error as Error).message]);
    }
  }
  const { crs } = ofPrj;
  notices.push(...ofPrj.notices);
  if (crs || geometry.kind !== "text") return crs;
  // RFC 7946, 4: GeoJSON is WGS84.
  const isGeoJson = samples.of(geometry.column).some((text) => text.startsWith("{"));
  return isGeoJson ? context.crs.wgs84 : null;
}
