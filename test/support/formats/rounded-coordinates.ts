import type { Geometry } from "../../../src/model/geometry.js";

type Nested = number | readonly Nested[];

/** The geometry as stored by a service that rounds numbers to this many decimals. */
export function roundedCoordinates(geometry: Geometry | null, decimals: number): Geometry | null {
  if (geometry === null) return null;
  if (geometry.type === "GeometryCollection")
    return { ...geometry, geometries: geometry.geometries.map((part) => roundedCoordinates(part, decimals)!) };
  return { ...geometry, coordinates: rounded(geometry.coordinates, decimals) } as Geometry;
}

const rounded = (value: Nested, decimals: number): Nested =>
  typeof value === "number" ? Number(value.toFixed(decimals)) : value.map((part) => rounded(part, decimals));
