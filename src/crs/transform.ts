import { type Definition, type Ellipsoid, type Geodetic, sameEllipsoid } from "./definition.js";
import { type Helmert, helmert, shift } from "./helmert.js";
import type { Operation } from "./identity.js";
import { resolve } from "./parse.js";
import { type Kernel, wrap } from "./projections/kernels.js";
import { chooseRoute, isGood, type Route } from "./routes.js";

/**
 * Transforms interleaved positions in place; `z` (metres, NaN where absent) has one height a position and is not
 * changed. A position that cannot be transformed becomes NaN, NaN. Gives how many failed.
 */
export type Transform = (xy: Float64Array, z: Float64Array | null) => number;

const wgs84Ellipsoid: Ellipsoid = { name: "WGS 84", a: 6378137, inverseFlattening: 298.257223563 };

export async function buildTransform(operation: Operation): Promise<Transform> {
  if (operation.kind === "identity") return () => 0;
  const [source, target] = await Promise.all([resolve(operation.from), resolve(operation.to)]);
  const enter = await toGeographic(source);
  const leave = await fromGeographic(target);
  const move = movement(operation, source.geodetic!.datum.ellipsoid, target.geodetic!.datum.ellipsoid);
  // Between geographic systems whose datums are taken for one nothing changes but, perhaps, units.
  if (!move && !source.projection && !target.projection && sameFrame(source.geodetic!, target.geodetic!))
    return () => 0;
  return (xy, z) => {
    const count = xy.length >>> 1;
    enter(xy, count);
    move?.(xy, z);
    leave(xy, count);
    return failures(xy, count);
  };
}

/** Says why a position, in the coordinates of the source, has none in the target. */
export async function failureReason(operation: Operation): Promise<(x: number, y: number) => string> {
  const { from, to, routes, everywhere, limit } = operation;
  const lacking = `has no coordinates in ${to.id ?? to.name}`;
  if (everywhere) return () => lacking;
  const enter = await toGeographic(await resolve(from));
  return (x, y) => {
    const at = Float64Array.of(x, y);
    enter(at, 1);
    const [longitude, latitude] = [...at].map((angle) => (angle * 180) / Math.PI) as [number, number];
    if (!Number.isFinite(longitude + latitude) || isGood(routes[chooseRoute(routes, longitude, latitude)], limit))
      return lacking;
    const place = `${longitude.toFixed(4)}°, ${latitude.toFixed(4)}°`;
    const [only] = routes;
    if (routes.length > 1 || !only?.area) return `lies at ${place}, where no shift accurate to ${limit} m is known`;
    const [west, south, east, north] = only.area;
    return `lies at ${place}, outside of where ${only.name} holds: longitude ${west}° to ${east}°, latitude ${south}° to ${north}°`;
  };
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

async function requireKernel(definition: Definition): Promise<Kernel> {
  const { kernelOf } = await import("./projections/index.js");
  const kernel = kernelOf(definition.projection!, definition.geodetic!.datum.ellipsoid);
  if (!kernel) throw new Error(`${definition.name}: findOperation let a projection pass that cannot be computed`);
  return kernel;
}

/** The shift between the datums, position by position where routes hold in their areas only; null where nothing moves. */
function movement(
  { routes, everywhere, limit }: Operation,
  from: Ellipsoid,
  to: Ellipsoid,
): ((xy: Float64Array, z: Float64Array | null) => void) | null {
  const [first] = routes;
  if (!first || (everywhere && chainOf(first, from, to).length === 0)) return null;
  const chains = routes.map((route) => chainOf(route, from, to));
  const good = routes.map((route) => isGood(route, limit));
  const shiftAll = (xy: Float64Array, z: Float64Array | null) => {
    for (const step of chains[0]!) shift(step, xy, z, 0, xy.length >>> 1);
  };
  if (everywhere) return shiftAll;
  const routeOf = (xy: Float64Array, i: number) =>
    chooseRoute(routes, (xy[2 * i]! * 180) / Math.PI, (xy[2 * i + 1]! * 180) / Math.PI);
  if (routes.length === 1 && good[0]) {
    return (xy, z) => {
      for (let i = 0; i < xy.length >>> 1; i++) if (routeOf(xy, i) < 0) xy[2 * i + 1] = Number.NaN;
      shiftAll(xy, z);
    };
  }
  return (xy, z) => {
    const count = xy.length >>> 1;
    for (let i = 0; i < count; i++) {
      const found = routeOf(xy, i);
      if (found < 0 || !good[found]) xy[2 * i] = Number.NaN;
      else for (const step of chains[found]!) shift(step, xy, z, i, i + 1);
    }
  };
}

/** GRS80 and WGS84 differ by a tenth of a millimetre in b: an operation of zeros between them moves nothing. */
function likeEllipsoids(a: Ellipsoid, b: Ellipsoid): boolean {
  return (
    sameEllipsoid(a, b) || (Math.abs(a.a - b.a) < 1e-3 && Math.abs(a.inverseFlattening - b.inverseFlattening) < 1e-5)
  );
}

function chainOf(route: Route, from: Ellipsoid, to: Ellipsoid): Helmert[] {
  // No step at all means that longitudes and latitudes stay, whatever the ellipsoids are.
  if (route.steps.length === 0) return [];
  const steps = route.steps.filter((step) => step.values.some((value) => value !== 0));
  if (steps.length === 0) return likeEllipsoids(from, to) ? [] : [helmert([0], false, from, to)];
  return steps.map((step, index) =>
    helmert(
      step.values,
      step.inverse,
      index === 0 ? from : wgs84Ellipsoid,
      index === steps.length - 1 ? to : wgs84Ellipsoid,
    ),
  );
}
