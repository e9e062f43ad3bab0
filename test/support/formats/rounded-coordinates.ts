import type { Geometry } from "../../../src/model/geometry.js";

type Nested = number | readonly Nested[];

/** The geometry as a service keeps it that stores so many decimals of each number. */
export function roundedCoordinates(geometry: Geometry | null, decimals: number): Geometry | null {
  if (geometry === null) return null;
  if (geometry.type === "GeometryCollection")
    return { ...geometry, geometries: geometry.geometries.map((part) => roundedCoordinates(part, decimals)!) };
  return { ...geometry, coordinates: rounded(geometry.coordinates, decimals) } as Geometry;
}

const rounded = (value: Nested, decimals: number): Nested =>
  typeof value === "number" ? Number(value.toFixed(decimals)) : value.map((part) => rounded(part, decimals));
