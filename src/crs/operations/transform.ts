import type { Extent } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import type { Area } from "../area.js";
import type { CrsDefinition, GeographicCrs } from "../definitions/definition.js";
import { resolveDefinition } from "../definitions/parse.js";
import { adviseZone } from "../definitions/zone-prefix.js";
import { type ProjectionKernel, wrapRadians } from "../projections/kernels.js";
import { getRegistry } from "../tables/registry.js";
import { adviseAccuracy, padArea } from "./accuracy-advice.js";
import { buildDatumShift } from "./datum-shift.js";
import { isAccurateEnough, usesGrid } from "./datum-transformations.js";
import { geographicExtentOf, sampleExtent } from "./extent-samples.js";
import { adviseGrids, selectBetterInArea } from "./missing-grids.js";
import type { Operation } from "./operation.js";
import { OperationSelector } from "./operation-selector.js";
import { PositionCounter } from "./position-counter.js";

/**
 * Transforms interleaved positions in place; `z` (metres, NaN if absent) has one height a position and is not
 * changed. A position that cannot be transformed becomes NaN, NaN. Returns the number of failed positions.
 */
export type Transform = (xy: Float64Array, z: Float64Array | null) => number;

/**
 * @param tally counts the positions by the transformations of the operation
 * @throws grid-invalid
 */
export async function buildTransform(
  operation: Operation,
  tally: PositionCounter = new PositionCounter(operation.transformations.length),
): Promise<Transform> {
  if (operation.kind === "identity") return () => 0;
  const [source, target] = await Promise.all([resolveDefinition(operation.from), resolveDefinition(operation.to)]);
  const toGeographic = await buildToGeographic(source);
  const fromGeographic = await buildFromGeographic(target);
  const datumShift = await buildDatumShift(operation, source.geodetic!.datum, target.geodetic!.datum, tally);
  // A transformation that is used everywhere is counted only for the advice of better ones.
  const isCounted = operation.transformations.length === 1 && operation.ignoresArea && operation.better.length > 0;
  // Between geographic systems with the same datum, at most the unit changes.
  if (!datumShift && !source.projection && !target.projection && isSameFrame(source.geodetic!, target.geodetic!))
    return (xy) => {
      if (!isCounted) return 0;
      // A copy, since a conversion to radians and back changes the last digits.
      const angles = xy.slice();
      toGeographic(angles, xy.length >>> 1);
      tally.addAll(0, angles, xy.length >>> 1);
      return 0;
    };
  return (xy, z) => {
    const count = xy.length >>> 1;
    toGeographic(xy, count);
    if (isCounted) tally.addAll(0, xy, count);
    datumShift?.(xy, z, 0, count);
    fromGeographic(xy, count);
    return markFailures(xy, count);
  };
}

/**
 * Builds a function that converts positions of a system in place to longitude and latitude of its datum in degrees; NaN for
 * invalid positions. Null for a system that cannot be transformed.
 */
export async function buildGeographicTransform(crs: Crs): Promise<((xy: Float64Array) => void) | null> {
  const definition = await resolveDefinition(crs);
  const { geodetic, projection, unsupportedReason } = definition;
  if (geodetic === null || unsupportedReason !== null) return null;
  if (projection !== null && (await findKernel(definition)) === null) return null;
  const toGeographic = await buildToGeographic(definition);
  return (xy) => {
    toGeographic(xy, xy.length >>> 1);
    for (let i = 0; i < xy.length; i++) xy[i] = (xy[i]! * 180) / Math.PI;
  };
}

/** Builds a function that advises systems with zone-prefixed eastings for positions that are invalid in a projected system. */
export async function createZoneAdviser(crs: Crs): Promise<(x: number, y: number) => string> {
  const stated = await resolveDefinition(crs);
  // Web Mercator has no zones and needs no tables.
  if (stated.projection === null || stated.projection.method === "web-mercator") return () => "";
  const tables = await getRegistry();
  // The search over all systems is cached by zone number.
  const known = new Map<number, string>();
  return (x, y) => {
    const key = Math.floor(x / 1e6);
    if (!known.has(key)) known.set(key, adviseZone(x, y, stated, tables));
    return known.get(key)!;
  };
}

/** Builds a function that explains why a position cannot be transformed, with advice. */
export async function createFailureExplainer(operation: Operation): Promise<(x: number, y: number) => string> {
  const { from, to, transformations, ignoresArea, accuracyLimit, better } = operation;
  const lacking = `has no coordinates in ${to.id ?? to.name}`;
  const gap = "beyond the available grids";
  if (ignoresArea) return transformations.some(usesGrid) ? () => `${lacking}: it lies ${gap}` : () => lacking;
  const toGeographic = await buildToGeographic(await resolveDefinition(from));
  const chooser = new OperationSelector(transformations);
  return (x, y) => {
    const at = Float64Array.of(x, y);
    toGeographic(at, 1);
    const [longitude, latitude] = [...at].map((angle) => (angle * 180) / Math.PI) as [number, number];
    if (!Number.isFinite(longitude + latitude)) return lacking;
    const chosen = transformations[chooser.choose(longitude, latitude)];
    const isEnough = isAccurateEnough(chosen, accuracyLimit);
    if (isEnough && !usesGrid(chosen!)) return lacking;
    const place = `lies at ${longitude.toFixed(4)}°, ${latitude.toFixed(4)}°`;
    if (isEnough)
      return `${place}, where the grid of ${chosen!.name} has no shift and no other operation accurate to ${accuracyLimit} m is known`;
    const used = chosen === undefined ? [] : [chosen];
    const here = padArea([longitude, latitude, longitude, latitude]);
    const advice = [...adviseAccuracy(used), ...adviseGrids(selectBetterInArea(better, used, here)).slice(0, 1)];
    const said = (reason: string) => [`${place}, ${reason}`, ...advice].join("; ");
    const [only] = transformations;
    if (chosen !== undefined || transformations.length > 1 || !only?.area)
      return said(`where no shift ${chosen === undefined ? "" : `accurate to ${accuracyLimit} m `}is known`);
    const [west, south, east, north] = only.area;
    return said(`outside of where ${only.name} holds: longitude ${west}° to ${east}°, latitude ${south}° to ${north}°`);
  };
}

/**
 * Converts an extent in coordinates of a system to longitudes and latitudes in degrees; west > east if it crosses the
 * antimeridian. Null if no position is valid.
 */
export async function geographicBox(crs: Crs, extent: Extent): Promise<Area | null> {
  const locate = await buildGeographicTransform(crs);
  if (locate === null) return null;
  const xy = sampleExtent(extent);
  locate(xy);
  const box = geographicExtentOf(xy);
  if (box === null || box[2] - box[0] <= 180) return box;
  // Files declare an extent over the full width for features on both sides of the antimeridian.
  const { definitionArea } = await import("./find-operation.js");
  const area = definitionArea(await resolveDefinition(crs), await getRegistry());
  return area !== null && area[0] > area[2] ? [area[0], box[1], area[2], box[3]] : box;
}

const isSameFrame = (a: GeographicCrs, b: GeographicCrs): boolean =>
  a.meridian.degrees === b.meridian.degrees && a.unit.conversionFactor === b.unit.conversionFactor;

function markFailures(xy: Float64Array, count: number): number {
  let failed = 0;
  for (let i = 0; i < count; i++) {
    if (Number.isFinite(xy[2 * i]!) && Number.isFinite(xy[2 * i + 1]!)) continue;
    xy[2 * i] = Number.NaN;
    xy[2 * i + 1] = Number.NaN;
    failed++;
  }
  return failed;
}

type CoordinateStep = (xy: Float64Array, count: number) => void;

/** From the coordinates of a system to longitude and latitude in radians from Greenwich. */
async function buildToGeographic(definition: CrsDefinition): Promise<CoordinateStep> {
  const geodetic = definition.geodetic!;
  const meridian = (geodetic.meridian.degrees * Math.PI) / 180;
  if (!definition.projection) {
    const unit = geodetic.unit.conversionFactor;
    return (xy, count) => {
      for (let i = 0; i < count; i++) {
        xy[2 * i] = xy[2 * i]! * unit + meridian;
        xy[2 * i + 1] = xy[2 * i + 1]! * unit;
      }
    };
  }
  const kernel = await requireKernel(definition);
  const metersPerUnit = definition.projection.unit.conversionFactor;
  return (xy, count) => {
    if (metersPerUnit !== 1) for (let i = 0; i < 2 * count; i++) xy[i] = xy[i]! * metersPerUnit;
    kernel.inverse(xy, 0, count);
    if (meridian !== 0) for (let i = 0; i < count; i++) xy[2 * i] = xy[2 * i]! + meridian;
  };
}

async function buildFromGeographic(definition: CrsDefinition): Promise<CoordinateStep> {
  const geodetic = definition.geodetic!;
  const meridian = (geodetic.meridian.degrees * Math.PI) / 180;
  if (!definition.projection) {
    const perUnit = 1 / geodetic.unit.conversionFactor;
    const inDegrees = Math.abs(perUnit - 180 / Math.PI) < 1e-9;
    return (xy, count) => {
      for (let i = 0; i < count; i++) {
        const longitude = meridian === 0 ? xy[2 * i]! : wrapRadians(xy[2 * i]! - meridian);
        xy[2 * i] = inDegrees ? (longitude * 180) / Math.PI : longitude * perUnit;
        xy[2 * i + 1] = inDegrees ? (xy[2 * i + 1]! * 180) / Math.PI : xy[2 * i + 1]! * perUnit;
      }
    };
  }
  const kernel = await requireKernel(definition);
  const metersPerUnit = definition.projection.unit.conversionFactor;
  return (xy, count) => {
    if (meridian !== 0) for (let i = 0; i < count; i++) xy[2 * i] = xy[2 * i]! - meridian;
    kernel.forward(xy, 0, count);
    if (metersPerUnit !== 1) for (let i = 0; i < 2 * count; i++) xy[i] = xy[i]! / metersPerUnit;
  };
}

async function findKernel({ projection, geodetic }: CrsDefinition): Promise<ProjectionKernel | null> {
  const { buildKernel } = await import("../projections/index.js");
  return buildKernel(projection!, geodetic!.datum.ellipsoid);
}

async function requireKernel(definition: CrsDefinition): Promise<ProjectionKernel> {
  const kernel = await findKernel(definition);
  if (!kernel) throw new Error(`${definition.name}: findOperation let a projection pass that cannot be computed`);
  return kernel;
}
