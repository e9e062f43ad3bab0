/** Geometries as text, for the panel of a feature. */
import type { Geometry, Position } from "../model/geometry.js";

/** Characters of a text. */
const maxCharacters = 4000;

/** WKT (OGC 06-103r4, 7.2), Z included, to 0.0000001 degrees; null if it is long, or there is no geometry. */
export function geometryText(geometry: Geometry | null): string | null {
  if (geometry === null || countPositions(geometry) * 8 > maxCharacters) return null;
  const text = toWkt(geometry);
  return text.length > maxCharacters ? null : text;
}

type Nested = Position | readonly Nested[];

function countPositions(geometry: Geometry): number {
  if (geometry.type === "GeometryCollection")
    return geometry.geometries.reduce((sum, part) => sum + countPositions(part), 0);
  return countNested(geometry.coordinates as Nested);
}

const countNested = (nested: Nested): number =>
  nested.length === 0 || typeof nested[0] === "number"
    ? 1
    : (nested as readonly Nested[]).reduce((sum, part) => sum + countNested(part), 0);

const positionText = (position: Position): string => position.map((value) => Number(value.toFixed(7))).join(" ");

function toWkt(geometry: Geometry): string {
  const word = geometry.type.toUpperCase();
  if (geometry.type === "GeometryCollection")
    return geometry.geometries.length === 0
      ? `${word} EMPTY`
      : `${word} (${geometry.geometries.map(toWkt).join(", ")})`;
  if (geometry.coordinates.length === 0) return `${word} EMPTY`;
  if (geometry.type === "Point") return `${word} (${positionText(geometry.coordinates)})`;
  return `${word} ${nestedText(geometry.coordinates)}`;
}

const nestedText = (nested: readonly Nested[]): string =>
  `(${nested.map((one) => (typeof one[0] === "number" ? positionText(one as Position) : nestedText(one as readonly Nested[]))).join(", ")})`;
