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
  /** EPSG's code, ESRI's with a prefix `E`, or null for an unknown datum. */
  readonly code: string | null;
  readonly name: string;
  readonly ellipsoid: Ellipsoid;
  /**
   * The shift to WGS84 that the definition itself declares: metres, arc-seconds (position vector), ppm; 3 or 7 values.
   * For a known datum the registered operations take precedence.
   */
  readonly toWgs84: readonly number[] | null;
  /** The grid that the definition requires (`+nadgrids`); no other shift is used then. */
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
  /** The declared datum if `datum` is its equivalent at Greenwich: NTF (Paris). For writing only. */
  readonly declaredDatum: { readonly code: string; readonly name: string } | null;
  readonly meridian: PrimeMeridian;
  readonly unit: Unit;
  /** Whether the system itself has heights (EPSG:4979). */
  readonly is3D: boolean;
}

/** Angles in degrees, lengths in the unit of the projected system, as WKT has them. */
export type ProjectionParameters = Readonly<Partial<Record<ParameterKey, number>>>;

export interface Projection {
  /** Null for an unknown method: coordinates can be copied but not transformed. */
  readonly method: MethodId | null;
  readonly methodName: string;
  readonly parameters: ProjectionParameters;
  readonly unit: Unit;
  /** x is the southing and y the westing, though the method gives easting and northing. */
  readonly axes?: "south-west";
}

/** A parsed definition, independent of its dialect. x is always longitude or easting. */
export interface CrsDefinition {
  readonly id: string | null;
  readonly name: string;
  /** Null for geocentric, engineering, vertical and similar systems, whose coordinates can only be copied. */
  readonly geodetic: GeographicCrs | null;
  readonly projection: Projection | null;
  /** Why the system cannot be transformed; null if it can. */
  readonly unsupportedReason: string | null;
  /** The vertical part of a compound system. Heights are never transformed. */
  readonly vertical?: string;
}

export const degree: Unit = { name: "degree", conversionFactor: Math.PI / 180 };
export const metre: Unit = { name: "metre", conversionFactor: 1 };
export const greenwich: PrimeMeridian = { name: "Greenwich", degrees: 0 };

export const wgs84Geodetic: GeographicCrs = {
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
 * Whether the ellipsoid is one of satellite geodesy (WGS 72 and 84, GRS 80, PZ-90, GSK-2011 …), whose datums are
 * geocentric and global: they differ by at most a few metres, due to plate motion.
 */
export const isGeocentricEllipsoid = (ellipsoid: Ellipsoid): boolean =>
  isClose(ellipsoid.a, 6378137, 2) && isClose(ellipsoid.inverseFlattening, 298.257, 0.01);

export function isSameDatum(a: Datum, b: Datum): boolean {
  if (!isSameEllipsoid(a.ellipsoid, b.ellipsoid)) return false;
  if (a.code !== null || b.code !== null) return a.code === b.code;
  if (a.nadgrids !== b.nadgrids) return false;
  if (a.toWgs84 !== null && b.toWgs84 !== null) return a.toWgs84.join() === b.toWgs84.join();
  // Two unknown datums are the same only if they have the same name.
  return a.toWgs84 === b.toWgs84 && a.name === b.name && a.name !== "" && !/unknown|not.specified/i.test(a.name);
}

/** Whether equal coordinates are the same place in both, to far below a millimetre. Names are ignored. */
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

/** Sorts standard parallels, whose order does not matter. */
function orderedParallels({ method, parameters }: Projection): ProjectionParameters {
  const { lat1, lat2 } = parameters;
  if (lat1 === undefined || lat2 === undefined || lat1 <= lat2 || method === null) return parameters;
  return { ...parameters, lat1: lat2, lat2: lat1 };
}
