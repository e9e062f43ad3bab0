import type { MethodId } from "./methods.js";
import type { ParameterKey } from "./parameters.js";

export interface Ellipsoid {
  readonly name: string;
  /** Semi-major axis in metres. */
  readonly a: number;
  /** 1/f; 0 for a sphere. */
  readonly inverseFlattening: number;
}

export interface Datum {
  /** EPSG's code, ESRI's with an `E` before it, or null where the datum is not a known one. */
  readonly code: string | null;
  readonly name: string;
  readonly ellipsoid: Ellipsoid;
  /**
   * The shift to WGS84 that the definition itself declares: metres, arc-seconds (position vector), ppm; 3 or 7 values.
   * For a known datum the table's operations go before it.
   */
  readonly toWgs84: readonly number[] | null;
  /** The grid that the definition asks for (`+nadgrids`), which makes any other shift a guess. */
  readonly nadgrids: string | null;
}

export interface PrimeMeridian {
  readonly name: string;
  /** Degrees east of Greenwich. */
  readonly degrees: number;
}

/** `size`: metres or radians in one unit. */
export interface Unit {
  readonly name: string;
  readonly conversionFactor: number;
}

export interface GeographicCrs {
  readonly code: string | null;
  readonly name: string;
  readonly datum: Datum;
  /** What it is called where `datum` is its twin at Greenwich: NTF (Paris). For writing only. */
  readonly declaredDatum: { readonly code: string; readonly name: string } | null;
  readonly meridian: PrimeMeridian;
  readonly unit: Unit;
  /** Heights are a third coordinate of the system itself (EPSG:4979). */
  readonly is3D: boolean;
}

/** Angles in degrees, lengths in the unit of the projected system, as WKT has them. */
export type ProjectionParameters = Readonly<Partial<Record<ParameterKey, number>>>;

export interface Projection {
  /** Null for a method that geoferry does not know: such a system can be carried but not transformed. */
  readonly method: MethodId | null;
  readonly methodName: string;
  readonly parameters: ProjectionParameters;
  readonly unit: Unit;
  /** x is the southing and y the westing, though the method gives easting and northing. */
  readonly axes?: "south-west";
}

/** What a definition says, whatever it was written in. x is always longitude or easting. */
export interface CrsDefinition {
  readonly id: string | null;
  readonly name: string;
  /** Null for geocentric, engineering, vertical systems and the like, which geoferry only carries. */
  readonly geodetic: GeographicCrs | null;
  readonly projection: Projection | null;
  /** Why it cannot be transformed though it could be read; null where it can. */
  readonly unsupportedReason: string | null;
  /** What heights count from, of a compound system. Nothing here transforms heights. */
  readonly vertical?: string;
}

export const degree: Unit = { name: "degree", conversionFactor: Math.PI / 180 };
export const metre: Unit = { name: "metre", conversionFactor: 1 };
export const greenwich: PrimeMeridian = { name: "Greenwich", degrees: 0 };

const wgs84Geodetic: GeographicCrs = {
  code: "4326",
  name: "WGS 84",
  datum: {
    code: "6326",
    name: "World Geodetic System 1984",
    ellipsoid: { name: "WGS 84", a: 6378137, inverseFlattening: 298.257223563 },
    toWgs84: null,
    nadgrids: null,
  },
  declaredDatum: null,
  meridian: greenwich,
  unit: degree,
  is3D: false,
};

export const wgs84Definition: CrsDefinition = {
  id: "EPSG:4326",
  name: "WGS 84",
  geodetic: wgs84Geodetic,
  projection: null,
  unsupportedReason: null,
};

export const webMercatorDefinition: CrsDefinition = {
  id: "EPSG:3857",
  name: "WGS 84 / Pseudo-Mercator",
  geodetic: wgs84Geodetic,
  projection: {
    method: "web-mercator",
    methodName: "Popular Visualisation Pseudo Mercator",
    parameters: { lat0: 0, lon0: 0, x0: 0, y0: 0 },
    unit: metre,
  },
  unsupportedReason: null,
};

const isClose = (a: number, b: number, tolerance: number) => Math.abs(a - b) <= tolerance;

export function isSameEllipsoid(a: Ellipsoid, b: Ellipsoid): boolean {
  return (
    isClose(a.a, b.a, 1e-3) &&
    isClose(1 / (a.inverseFlattening || Infinity), 1 / (b.inverseFlattening || Infinity), 1e-10)
  );
}

/**
 * Whether the ellipsoid is one of satellite geodesy (WGS 72 and 84, GRS 80, PZ-90, GSK-2011 …), whose datums have their
 * centre in the earth's and hold all over it: they differ by what plates have drifted, a few metres anywhere.
 */
export const isGeocentricEllipsoid = (ellipsoid: Ellipsoid): boolean =>
  isClose(ellipsoid.a, 6378137, 2) && isClose(ellipsoid.inverseFlattening, 298.257, 0.01);

export function isSameDatum(a: Datum, b: Datum): boolean {
  if (!isSameEllipsoid(a.ellipsoid, b.ellipsoid)) return false;
  if (a.code !== null || b.code !== null) return a.code === b.code;
  if (a.nadgrids !== b.nadgrids) return false;
  if (a.toWgs84 !== null && b.toWgs84 !== null) return a.toWgs84.join() === b.toWgs84.join();
  // Two datums that no one knows are the same one only if both say so by name.
  return a.toWgs84 === b.toWgs84 && a.name === b.name && a.name !== "" && !/unknown|not.specified/i.test(a.name);
}

/** Whether coordinates mean the same place in both, to far below a millimetre. Names do not matter. */
export function isSameDefinition(a: CrsDefinition, b: CrsDefinition): boolean {
  if (!a.geodetic || !b.geodetic || !isSameDatum(a.geodetic.datum, b.geodetic.datum)) return false;
  return hasSameCoordinates(a, b);
}

/** As `isSameDefinition`, but for the datum. */
export function hasSameCoordinates(a: CrsDefinition, b: CrsDefinition): boolean {
  if (!a.geodetic || !b.geodetic) return false;
  if (!isClose(a.geodetic.meridian.degrees, b.geodetic.meridian.degrees, 1e-9)) return false;
  if (!a.projection || !b.projection) {
    return (
      !a.projection &&
      !b.projection &&
      isClose(a.geodetic.unit.conversionFactor / b.geodetic.unit.conversionFactor, 1, 1e-10)
    );
  }
  const [p, q] = [a.projection, b.projection];
  if (
    p.method === null ||
    p.method !== q.method ||
    p.axes !== q.axes ||
    !isClose(p.unit.conversionFactor / q.unit.conversionFactor, 1, 1e-9)
  )
    return false;
  const [mine, other] = [orderedParallels(p), orderedParallels(q)];
  const keys = new Set([...Object.keys(mine), ...Object.keys(other)]) as Set<ParameterKey>;
  for (const key of keys) {
    const [v, w] = [mine[key], other[key]];
    if (v === undefined || w === undefined || !isClose(v, w, key === "x0" || key === "y0" ? 1e-4 : 1e-9)) return false;
  }
  return true;
}

/** A cone cuts both its standard parallels: which of them is called the first changes nothing. */
function orderedParallels({ method, parameters }: Projection): ProjectionParameters {
  const { lat1, lat2 } = parameters;
  if (lat1 === undefined || lat2 === undefined || lat1 <= lat2 || method === null) return parameters;
  return { ...parameters, lat1: lat2, lat2: lat1 };
}
