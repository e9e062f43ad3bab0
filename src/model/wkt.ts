import type { Geometry, Position } from "./geometry.js";

type NestedPositions = Position | readonly NestedPositions[];

/** Well-known text of a geometry (OGC 06-103r4, 7), without measures. */
export function toWkt(geometry: Geometry): string {
  const dimension = hasHeight(geometry) ? " Z" : "";
  const name = `${geometry.type.toUpperCase()}${dimension}`;
  if (geometry.type === "GeometryCollection")
    return geometry.geometries.length === 0
      ? `${name} EMPTY`
      : `${name} (${geometry.geometries.map(toWkt).join(", ")})`;
  const { coordinates } = geometry;
  if (coordinates.length === 0) return `${name} EMPTY`;
  // The positions of a MultiPoint are in parentheses of their own.
  const nested: NestedPositions =
    geometry.type === "MultiPoint" ? geometry.coordinates.map((position) => [position]) : coordinates;
  return geometry.type === "Point" ? `${name} (${geometry.coordinates.join(" ")})` : `${name} ${textOf(nested)}`;
}

const isPosition = (nested: NestedPositions): nested is Position => typeof nested[0] === "number";

const textOf = (nested: NestedPositions): string =>
  isPosition(nested) ? nested.join(" ") : `(${nested.map(textOf).join(", ")})`;

function hasHeight(geometry: Geometry): boolean {
  if (geometry.type === "GeometryCollection") return geometry.geometries.some(hasHeight);
  let first: NestedPositions | undefined = geometry.coordinates;
  while (first !== undefined && !isPosition(first)) first = first[0];
  return first !== undefined && first.length > 2;
}
