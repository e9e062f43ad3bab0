import type { Extent } from "../model/geometry.js";
import type { Crs } from "../model/layer.js";
import type { CrsContext } from "../plugin/format.js";
import { type Area, areaWidth, isNearArea } from "./area.js";
import { isNorthFirst } from "./axis-order.js";
import type { CrsDescription } from "./definitions/describe-crs.js";
import { parseCrs, resolveDefinition, wgs84 } from "./definitions/parse.js";
import { wgs84Wkt } from "./definitions/wgs84-wkt.js";
import { createTrivialOperation, hasSameText, type Operation, type OperationOptions } from "./operations/operation.js";
import type { OperationNote, OperationSummary, TransformationUse } from "./operations/operation-notes.js";

export type { Area } from "./area.js";
export type { CrsDescription } from "./definitions/describe-crs.js";
export { defaultAccuracyLimit, strictAccuracyLimit } from "./operations/accuracy-limits.js";
export type { Operation, OperationOptions } from "./operations/operation.js";
export type { Transform } from "./operations/transform.js";

/**
 * Coordinate reference systems. The tables and projections are loaded when a system other than WGS 84 or Web Mercator needs
 * them. In geoferry, x is always longitude or easting, independent of the declared axis order.
 */
export const crsContext: CrsContext = {
  wgs84,
  parse: parseCrs,
  computeShareInArea: shareInArea,
  isNorthFirst,
  async toWkt(crs, flavour) {
    if (isWgs84(crs)) return wgs84Wkt[flavour];
    const [definition, { getRegistry }, writer] = await Promise.all([
      resolveDefinition(crs),
      import("./tables/registry.js"),
      import("./definitions/write-wkt.js"),
    ]);
    const tables = await getRegistry();
    if (flavour === "esri") return writer.writeEsri(definition, tables);
    return flavour === "wkt1" ? writer.writeWkt1(definition, tables) : writer.writeWkt2(definition);
  },
  async toProjJson(crs) {
    const [definition, { writeProjJson }] = await Promise.all([
      resolveDefinition(crs),
      import("./definitions/write-projjson.js"),
    ]);
    return writeProjJson(definition);
  },
};

/** Areas of use wider than this, in degrees of longitude, are not used to judge positions. */
const maxAreaWidth = 180;
/** Positions within this distance of the area, in degrees, count as near it. */
const nearDegrees = 2;

async function shareInArea(crs: Crs, xy: Float64Array): Promise<number | null> {
  const area = await areaOfUse(crs);
  if (area === null || xy.length === 0) return null;
  if (areaWidth(area) > maxAreaWidth) return null;
  const { buildGeographicTransform } = await import("./operations/transform.js");
  const locate = await buildGeographicTransform(crs);
  if (!locate) return null;
  const at = xy.slice();
  locate(at);
  let inside = 0;
  for (let k = 0; k < at.length; k += 2) if (isNearArea(area, at[k]!, at[k + 1]!, nearDegrees)) inside++;
  return (2 * inside) / at.length;
}

/** Advice for a position that is not longitude and latitude: systems with zone numbers in their eastings. Empty if none. */
export async function zoneAdviceFor(x: number, y: number): Promise<string> {
  if (!(x >= 1e6)) return "";
  const [{ getRegistry }, { adviseZone }] = await Promise.all([
    import("./tables/registry.js"),
    import("./definitions/zone-prefix.js"),
  ]);
  return adviseZone(x, y, null, await getRegistry());
}

export const isWgs84 = (crs: Crs): boolean => crs.id === wgs84.id;

/**
 * Whether both are the same system by their text. Never wrong if true; definitions that differ only in spelling are found
 * equal by `findOperation` (`kind: "identity"`).
 */
export const hasSameDefinition = (a: Crs, b: Crs): boolean => hasSameText(a, b);

/**
 * Finds the operation between two systems, with a known and sufficient accuracy.
 * @throws crs-no-operation if there is none
 */
export async function findOperation(from: Crs, to: Crs, options: OperationOptions = {}): Promise<Operation> {
  if (from === to || (hasSameText(from, to) && from.definition === to.definition))
    return createTrivialOperation({ from, to }, "identity", "the same system");
  const operations = await import("./operations/find-operation.js");
  return operations.findOperation(from, to, options);
}

const wgs84Description: CrsDescription = {
  area: [-180, -90, 180, 90],
  areaName: "World",
  axes: ["longitude", "latitude"],
  unit: "degree",
  datum: "World Geodetic System 1984",
};

/** See describe-crs.ts. */
export async function describeCrs(crs: Crs): Promise<CrsDescription> {
  if (isWgs84(crs)) return wgs84Description;
  const description = await import("./definitions/describe-crs.js");
  return description.describeCrs(crs);
}

/** See share-grids.ts. */
export async function shareGrids(operation: Operation): Promise<Operation> {
  if (operation.gridFiles.length === 0) return operation;
  const grids = await import("./operations/share-grids.js");
  return grids.shareGrids(operation);
}

/** See transform-extent.ts. */
export async function transformExtent(extent: Extent, operation: Operation): Promise<Extent | null> {
  const transforms = await import("./operations/transform-extent.js");
  return transforms.transformExtent(extent, operation);
}

/** See transform.ts. */
export async function geographicBox(crs: Crs, extent: Extent): Promise<Area | null> {
  if (isWgs84(crs)) return extent;
  const transforms = await import("./operations/transform.js");
  return transforms.geographicBox(crs, extent);
}

/**
 * A function that converts positions of a system in place to longitude and latitude of its datum in degrees; null if the
 * system is unknown or cannot be transformed.
 */
export async function geographicConversion(crs: Crs | null): Promise<((xy: Float64Array) => void) | null> {
  if (crs === null) return null;
  if (isWgs84(crs)) return () => {};
  const { buildGeographicTransform } = await import("./operations/transform.js");
  return buildGeographicTransform(crs);
}

/** See operation-notes.ts. */
export async function operationNotes(
  operation: Operation,
  uses: readonly TransformationUse[],
): Promise<OperationNote[]> {
  if (operation.kind !== "transformation" && operation.remarks.length === 0) return [];
  const statements = await import("./operations/operation-notes.js");
  return statements.operationNotes(operation, uses);
}

/** See operation-notes.ts. */
export async function explainRefusal(operation: Operation, uses: readonly TransformationUse[]): Promise<string | null> {
  const statements = await import("./operations/operation-notes.js");
  return statements.explainRefusal(operation, uses);
}

/** See operation-notes.ts. */
export async function summarizeUse(
  operation: Operation,
  uses: readonly TransformationUse[],
): Promise<OperationSummary> {
  const statements = await import("./operations/operation-notes.js");
  return statements.summarizeUse(operation, uses);
}

/** Area of use of the system: west, south, east, north in degrees; null if unknown. */
export async function areaOfUse(crs: Crs): Promise<Area | null> {
  if (isWgs84(crs)) return [-180, -90, 180, 90];
  const [{ getRegistry }, { definitionArea }] = await Promise.all([
    import("./tables/registry.js"),
    import("./operations/find-operation.js"),
  ]);
  return definitionArea(await resolveDefinition(crs), await getRegistry());
}

/** Whether coordinates are the same in both systems. */
export async function isSameCrs(one: Crs, other: Crs): Promise<boolean> {
  const operation = await findOperation(one, other, { accuracy: Number.POSITIVE_INFINITY }).catch(() => null);
  return operation?.kind === "identity";
}
