import type { Extent } from "../model/geometry.js";
import type { Crs } from "../model/layer.js";
import type { Area } from "./area.js";
import type { Definition, Geodetic } from "./definition.js";
import { areaAround, enoughAccuracy } from "./enough-accuracy.js";
import { degreesBoxOf, gridOver } from "./extent-grid.js";
import type { Operation } from "./identity.js";
import { betterWithin, remedies } from "./lacking.js";
import { movementOf } from "./movement.js";
import { resolve } from "./parse.js";
import { PositionTally } from "./position-tally.js";
import { type Kernel, wrap } from "./projections/kernels.js";
import { registry } from "./registry.js";
import { RouteChooser } from "./route-chooser.js";
import { hasGrid, isGood } from "./routes.js";
import { zoneAdvice } from "./zone-prefix.js";

/**
 * Transforms interleaved positions in place; `z` (metres, NaN where absent) has one height a position and is not
 * changed. A position that cannot be transformed becomes NaN, NaN. Gives how many failed.
 */
export type Transform = (xy: Float64Array, z: Float64Array | null) => number;

/**
 * @param tally counts the positions by the routes of the operation
 * @throws grid-unusable
 */
export async function buildTransform(
  operation: Operation,
  tally: PositionTally = new PositionTally(operation.routes.length),
): Promise<Transform> {
  if (operation.kind === "identity") return () => 0;
  const [source, target] = await Promise.all([resolve(operation.from), resolve(operation.to)]);
  const enter = await toGeographic(source);
  const leave = await fromGeographic(target);
  const move = await movementOf(operation, source.geodetic!.datum, target.geodetic!.datum, tally);
  // Between geographic systems whose datums are taken for one nothing changes but, perhaps, units.
  if (!move && !source.projection && !target.projection && sameFrame(source.geodetic!, target.geodetic!))
    return () => 0;
  return (xy, z) => {
    const count = xy.length >>> 1;
    enter(xy, count);
    move?.(xy, z, 0, count);
    leave(xy, count);
    return failures(xy, count);
  };
}

/**
 * Turns positions of a system into longitudes and latitudes of its datum in degrees, in place; NaN where there are none.
 * Null for a system that geoferry only carries.
 */
export async function buildLocator(crs: Crs): Promise<((xy: Float64Array) => void) | null> {
  const definition = await resolve(crs);
  const { geodetic, projection, obstacle } = definition;
  if (geodetic === null || obstacle !== null) return null;
  if (projection !== null && (await findKernel(definition)) === null) return null;
  const enter = await toGeographic(definition);
  return (xy) => {
    enter(xy, xy.length >>> 1);
    for (let i = 0; i < xy.length; i++) xy[i] = (xy[i]! * 180) / Math.PI;
  };
}

/** Gives, as a sentence, the systems whose eastings begin with the number of the zone, for positions that are wrong in a projected one. */
export async function zoneAdviser(crs: Crs): Promise<(x: number, y: number) => string> {
  const stated = await resolve(crs);
  // Web Mercator needs no tables, and its eastings have no zones.
  if (stated.projection === null || stated.projection.method === "web-mercator") return () => "";
  const tables = await registry();
  // All systems are looked at: once for all positions that begin with the same number.
  const known = new Map<number, string>();
  return (x, y) => {
    const key = Math.floor(x / 1e6);
    if (!known.has(key)) known.set(key, zoneAdvice(x, y, stated, tables));
    return known.get(key)!;
  };
}

/** Says why a position, in the coordinates of the source, has none in the target, and what would serve it. */
export async function failureReason(operation: Operation): Promise<(x: number, y: number) => string> {
  const { from, to, routes, everywhere, limit, better } = operation;
  const lacking = `has no coordinates in ${to.id ?? to.name}`;
  const gap = "beyond the grids at hand";
  if (everywhere) return routes.some(hasGrid) ? () => `${lacking}: it lies ${gap}` : () => lacking;
  const enter = await toGeographic(await resolve(from));
  const chooser = new RouteChooser(routes);
  return (x, y) => {
    const at = Float64Array.of(x, y);
    enter(at, 1);
    const [longitude, latitude] = [...at].map((angle) => (angle * 180) / Math.PI) as [number, number];
    if (!Number.isFinite(longitude + latitude)) return lacking;
    const chosen = routes[chooser.choose(longitude, latitude)];
    const isEnough = isGood(chosen, limit);
    if (isEnough && !hasGrid(chosen!)) return lacking;
    const place = `lies at ${longitude.toFixed(4)}°, ${latitude.toFixed(4)}°`;
    if (isEnough)
      return `${place}, where ${chosen!.name} has no shift in its grid and no other accurate to ${limit} m is known`;
    const used = chosen === undefined ? [] : [chosen];
    const here = areaAround([longitude, latitude, longitude, latitude]);
    const advice = [...enoughAccuracy(used), ...remedies(betterWithin(better, used, here)).slice(0, 1)];
    const said = (reason: string) => [`${place}, ${reason}`, ...advice].join("; ");
    const [only] = routes;
    if (chosen !== undefined || routes.length > 1 || !only?.area)
      return said(`where no shift ${chosen === undefined ? "" : `accurate to ${limit} m `}is known`);
    const [west, south, east, north] = only.area;
    return said(`outside of where ${only.name} holds: longitude ${west}° to ${east}°, latitude ${south}° to ${north}°`);
  };
}

/**
 * The box of longitudes and latitudes in degrees around a box in the coordinates of a system, west > east where it crosses
 * the antimeridian; null where there is none.
 */
export async function geographicBox(crs: Crs, extent: Extent): Promise<Area | null> {
  const locate = await buildLocator(crs);
  if (locate === null) return null;
  const xy = gridOver(extent);
  locate(xy);
  const box = degreesBoxOf(xy);
  if (box === null || box[2] - box[0] <= 180) return box;
  // A box from one edge of the map to the other is what files declare of features on both sides of the antimeridian.
  const { areaOfDefinition } = await import("./operation.js");
  const area = areaOfDefinition(await resolve(crs), await registry());
  return area !== null && area[0] > area[2] ? [area[0], box[1], area[2], box[3]] : box;
}

const sameFrame = (a: Geodetic, b: Geodetic): boolean =>
  a.meridian.degrees === b.meridian.degrees && a.unit.size === b.unit.size;

function failures(xy: Float64Array, count: number): number {
  let failed = 0;
  for (let i = 0; i < count; i++) {
    if (Number.isFinite(xy[2 * i]!) && Number.isFinite(xy[2 * i + 1]!)) continue;
    xy[2 * i] = Number.NaN;
    xy[2 * i + 1] = Number.NaN;
    failed++;
  }
  return failed;
}

type Leg = (xy: Float64Array, count: number) => void;

/** From the coordinates of a system to longitude and latitude in radians from Greenwich. */
async function toGeographic(definition: Definition): Promise<Leg> {
  const geodetic = definition.geodetic!;
  const meridian = (geodetic.meridian.degrees * Math.PI) / 180;
  if (!definition.projection) {
    const unit = geodetic.unit.size;
    return (xy, count) => {
      for (let i = 0; i < count; i++) {
        xy[2 * i] = xy[2 * i]! * unit + meridian;
        xy[2 * i + 1] = xy[2 * i + 1]! * unit;
      }
    };
  }
  const kernel = await requireKernel(definition);
  const metres = definition.projection.unit.size;
  return (xy, count) => {
    if (metres !== 1) for (let i = 0; i < 2 * count; i++) xy[i] = xy[i]! * metres;
    kernel.inverse(xy, 0, count);
    if (meridian !== 0) for (let i = 0; i < count; i++) xy[2 * i] = xy[2 * i]! + meridian;
  };
}

async function fromGeographic(definition: Definition): Promise<Leg> {
  const geodetic = definition.geodetic!;
  const meridian = (geodetic.meridian.degrees * Math.PI) / 180;
  if (!definition.projection) {
    const perUnit = 1 / geodetic.unit.size;
    const inDegrees = Math.abs(perUnit - 180 / Math.PI) < 1e-9;
    return (xy, count) => {
      for (let i = 0; i < count; i++) {
        const longitude = meridian === 0 ? xy[2 * i]! : wrap(xy[2 * i]! - meridian);
        xy[2 * i] = inDegrees ? (longitude * 180) / Math.PI : longitude * perUnit;
        xy[2 * i + 1] = inDegrees ? (xy[2 * i + 1]! * 180) / Math.PI : xy[2 * i + 1]! * perUnit;
      }
    };
  }
  const kernel = await requireKernel(definition);
  const metres = definition.projection.unit.size;
  return (xy, count) => {
    if (meridian !== 0) for (let i = 0; i < count; i++) xy[2 * i] = xy[2 * i]! - meridian;
    kernel.forward(xy, 0, count);
    if (metres !== 1) for (let i = 0; i < 2 * count; i++) xy[i] = xy[i]! / metres;
  };
}

async function findKernel({ projection, geodetic }: Definition): Promise<Kernel | null> {
  const { kernelOf } = await import("./projections/index.js");
  return kernelOf(projection!, geodetic!.datum.ellipsoid);
}

async function requireKernel(definition: Definition): Promise<Kernel> {
  const kernel = await findKernel(definition);
  if (!kernel) throw new Error(`${definition.name}: findOperation let a projection pass that cannot be computed`);
  return kernel;
}
