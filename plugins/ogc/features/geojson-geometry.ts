/** Checks geometries of GeoJSON (RFC 7946, 3.1) and exchanges axes where the northing is first. */
import type { Geometry, Position } from "../../../src/model/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { isObject } from "../../shared/json/values.js";

const malformed = (reason: string) => new GeometryParseError(reason, 0);
const maxDepth = 64;

function toPosition(value: unknown, isNorthFirst: boolean): Position {
  if (!Array.isArray(value) || value.length < 2) throw malformed("a position has fewer than two numbers");
  const [first, second, height] = value as unknown[];
  const isHeight = height === undefined || height === null || typeof height === "number";
  if (typeof first !== "number" || typeof second !== "number" || !isHeight)
    throw malformed("a position has a coordinate that is not a number");
  const [x, y] = isNorthFirst ? [second, first] : [first, second];
  return typeof height === "number" ? [x, y, height] : [x, y];
}

const listOf = <T>(value: unknown, parse: (item: unknown) => T): T[] => {
  if (!Array.isArray(value)) throw malformed("the coordinates of a geometry are not nested as its type requires");
  return value.map(parse);
};

/** Null for a feature without geometry. @throws GeometryParseError */
export function toGeometry(value: unknown, isNorthFirst: boolean, depth = 0): Geometry | null {
  if (value === null || value === undefined) return null;
  if (!isObject(value) || depth > maxDepth) throw malformed("a geometry is not an object");
  const { type, coordinates } = value;
  const position = (item: unknown) => toPosition(item, isNorthFirst);
  const line = (item: unknown) => listOf(item, position);
  const polygon = (item: unknown) => listOf(item, line);
  switch (type) {
    case "Point":
      return { type, coordinates: Array.isArray(coordinates) && coordinates.length === 0 ? [] : position(coordinates) };
    case "LineString":
    case "MultiPoint":
      return { type, coordinates: line(coordinates) };
    case "Polygon":
    case "MultiLineString":
      return { type, coordinates: polygon(coordinates) };
    case "MultiPolygon":
      return { type, coordinates: listOf(coordinates, polygon) };
    case "GeometryCollection": {
      const geometries = listOf(value.geometries, (item) => toGeometry(item, isNorthFirst, depth + 1));
      return { type, geometries: geometries.filter((each) => each !== null) };
    }
    default:
      throw malformed(`"${String(type).slice(0, 40)}" is not a type of geometry`);
  }
}
