import type { Geometry } from "../../model/geometry.js";

/** Nesting of the arrays of `coordinates` by geometry type (RFC 7946, 3.1). */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  LineString: 1,
  MultiPoint: 1,
  Polygon: 2,
  MultiLineString: 2,
  MultiPolygon: 3,
};

const maxCoordinates = [180, 90, Number.MAX_VALUE] as const;

/**
 * Whether the value is a longitude and latitude in degrees within their bounds, with an optional height (RFC 7946,
 * 3.1.1).
 */
const isPosition = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length >= 2 &&
  value.every(
    (number, axis) => typeof number === "number" && Math.abs(number) <= (maxCoordinates[axis] ?? maxCoordinates[2]),
  );

const isNested = (value: unknown, depth: number): boolean =>
  depth === 0 ? isPosition(value) : Array.isArray(value) && value.every((part) => isNested(part, depth - 1));

/** Whether a JSON value is a geometry; without positions, its coordinates are an empty array (RFC 7946, 3.1). */
export function isGeometry(value: unknown): value is Geometry {
  if (typeof value !== "object" || value === null) return false;
  const { type, coordinates, geometries } = value as Readonly<Record<string, unknown>>;
  if (type === "GeometryCollection") return Array.isArray(geometries) && geometries.every(isGeometry);
  if (typeof type !== "string" || !Object.hasOwn(depths, type)) return false;
  return (Array.isArray(coordinates) && coordinates.length === 0) || isNested(coordinates, depths[type]!);
}
