/** Spatial references of Esri JSON (ArcGIS REST API, "Geometry objects", Spatial reference). */
import type { Crs } from "../../../src/model/index.js";
import { GeoferryError, type ReadContext } from "../../../src/plugin/index.js";
import { integerOf, isObject, textOf } from "../../shared/json/values.js";

/** Codes from here on are Esri's own; EPSG's end before it. */
const firstEsriCode = 32768;
/** Codes that were Esri's own before EPSG had one. */
const laterCodes: Readonly<Record<number, number>> = { 102100: 3857 };

/** Definitions of a spatial reference, the most reliable first. */
function definitionsOf(reference: unknown): string[] {
  if (!isObject(reference)) return [];
  const codes = [integerOf(reference.latestWkid), integerOf(reference.wkid)].filter(
    (code) => code !== null && code > 0,
  );
  const texts = [textOf(reference.wkt2), textOf(reference.wkt)].filter((text) => text !== null && text !== "");
  return [...codes.map((code) => codeName(laterCodes[code!] ?? code!)), ...(texts as string[])];
}

const codeName = (code: number): string => `${code < firstEsriCode ? "EPSG" : "ESRI"}:${code}`;

/** Text that is equal for equal spatial references. */
export const spatialReferenceKey = (reference: unknown): string => definitionsOf(reference)[0] ?? "";

/** The reference system; null if there is none, or with a notice if none of its definitions is known. */
export async function readSpatialReference(
  reference: unknown,
  context: Pick<ReadContext, "crs" | "reportNotice">,
): Promise<Crs | null> {
  const definitions = definitionsOf(reference);
  for (const definition of definitions) {
    try {
      return await context.crs.parse(definition);
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.code !== "crs-unknown") throw error;
    }
  }
  if (definitions.length > 0)
    context.reportNotice(
      "crs-unreadable",
      undefined,
      `its definition cannot be parsed: ${definitions[0]!.slice(0, 80)}`,
    );
  return null;
}
