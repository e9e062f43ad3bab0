import type { Extent } from "../model/geometry.js";
import type { Crs } from "../model/layer.js";
import type { CrsContext } from "../plugin/format.js";
import { type Area, nearArea, widthOf } from "./area.js";
import type { CrsDescription } from "./description.js";
import { type Operation, type OperationOptions, plain, sameText } from "./identity.js";
import { parse, resolve, wgs84 } from "./parse.js";
import type { RouteUse, Settled, Statement } from "./statements.js";
import { wgs84Wkt } from "./wgs84-wkt.js";

export type { Area } from "./area.js";
export type { CrsDescription } from "./description.js";
export type { Operation, OperationOptions } from "./identity.js";
export { strictLimit, usualLimit } from "./limits.js";
export type { Transform } from "./transform.js";

/**
 * Coordinate reference systems. The tables of codes and the projections are loaded when the first system other than WGS84
 * or Web Mercator needs them. Inside geoferry x is always longitude or easting, whatever order a definition declares.
 */
export const crsContext: CrsContext = {
  wgs84,
  parse,
  shareInside,
  async wkt(crs, flavour) {
    if (isWgs84(crs)) return wgs84Wkt[flavour];
    const [definition, { registry }, writer] = await Promise.all([
      resolve(crs),
      import("./registry.js"),
      import("./wkt-write.js"),
    ]);
    const tables = await registry();
    if (flavour === "esri") return writer.writeEsri(definition, tables);
    return flavour === "wkt1" ? writer.writeWkt1(definition, tables) : writer.writeWkt2(definition);
  },
};

/** Wider areas, in degrees of longitude, say nothing about positions. */
const widestArea = 180;
/** Degrees beyond the area that are still near it. */
const nearDegrees = 2;

async function shareInside(crs: Crs, xy: Float64Array): Promise<number | null> {
  const area = await areaOfUse(crs);
  if (area === null || xy.length === 0) return null;
  if (widthOf(area) > widestArea) return null;
  const { buildLocator } = await import("./transform.js");
  const locate = await buildLocator(crs);
  if (!locate) return null;
  const at = xy.slice();
  locate(at);
  let inside = 0;
  for (let k = 0; k < at.length; k += 2) if (nearArea(area, at[k]!, at[k + 1]!, nearDegrees)) inside++;
  return (2 * inside) / at.length;
}

/** Advice on a position that is no longitude and latitude, a sentence or nothing: systems with zones in their eastings. */
export async function zoneAdviceFor(x: number, y: number): Promise<string> {
  if (!(x >= 1e6)) return "";
  const [{ registry }, { zoneAdvice }] = await Promise.all([import("./registry.js"), import("./zone-prefix.js")]);
  return zoneAdvice(x, y, null, await registry());
}

export const isWgs84 = (crs: Crs): boolean => crs.id === wgs84.id;

/**
 * Whether both are known to be one system, so that coordinates are carried over untouched. Sure but not complete: two
 * definitions without a code that differ in spelling only are found equal by `findOperation` (`kind: "identity"`).
 */
export const sameCrs = (a: Crs, b: Crs): boolean => sameText(a, b);

/**
 * The direct operation between two systems whose accuracy is known and good enough.
 * @throws crs-no-operation where there is none that is accurate enough
 */
export async function findOperation(from: Crs, to: Crs, options: OperationOptions = {}): Promise<Operation> {
  if (from === to || (sameText(from, to) && from.definition === to.definition))
    return plain({ from, to }, "identity", "the same system");
  const operations = await import("./operation.js");
  return operations.findOperation(from, to, options);
}

const wgs84Description: CrsDescription = {
  area: [-180, -90, 180, 90],
  areaName: "World",
  axes: ["longitude", "latitude"],
  unit: "degree",
  datum: "World Geodetic System 1984",
};

/** See description.ts. */
export async function describeCrs(crs: Crs): Promise<CrsDescription> {
  if (isWgs84(crs)) return wgs84Description;
  const description = await import("./description.js");
  return description.describeCrs(crs);
}

/** See share-grids.ts. */
export async function shareGrids(operation: Operation): Promise<Operation> {
  if (operation.gridFiles.length === 0) return operation;
  const grids = await import("./share-grids.js");
  return grids.shareGrids(operation);
}

/** See transform-extent.ts. */
export async function transformExtent(extent: Extent, operation: Operation): Promise<Extent | null> {
  const transforms = await import("./transform-extent.js");
  return transforms.transformExtent(extent, operation);
}

/** See transform.ts. */
export async function geographicBox(crs: Crs, extent: Extent): Promise<Area | null> {
  if (isWgs84(crs)) return extent;
  const transforms = await import("./transform.js");
  return transforms.geographicBox(crs, extent);
}

/** See statements.ts. */
export async function statementsOf(operation: Operation, uses: readonly RouteUse[]): Promise<Statement[]> {
  if (operation.kind !== "transformation" && operation.remarks.length === 0) return [];
  const statements = await import("./statements.js");
  return statements.statementsOf(operation, uses);
}

/** See statements.ts. */
export async function refusalAfter(operation: Operation, uses: readonly RouteUse[]): Promise<string | null> {
  const statements = await import("./statements.js");
  return statements.refusalAfter(operation, uses);
}

/** See statements.ts. */
export async function settledBy(operation: Operation, uses: readonly RouteUse[]): Promise<Settled> {
  const statements = await import("./statements.js");
  return statements.settledBy(operation, uses);
}

/** Where the system is meant to be used: west, south, east, north in degrees; null where the tables do not say. */
export async function areaOfUse(crs: Crs): Promise<Area | null> {
  if (isWgs84(crs)) return [-180, -90, 180, 90];
  const [{ registry }, { areaOfDefinition }] = await Promise.all([import("./registry.js"), import("./operation.js")]);
  return areaOfDefinition(await resolve(crs), await registry());
}
