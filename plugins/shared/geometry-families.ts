import { Kind } from "../../src/model/index.js";

/** Kinds that every format keeps in one layer. */
const geometryFamilies: readonly (readonly number[])[] = [
  [Kind.Point],
  [Kind.MultiPoint],
  [Kind.LineString, Kind.MultiLineString],
  [Kind.Polygon, Kind.MultiPolygon],
];

/** Whether every format keeps the geometries, of which there are so many of each kind, in one layer. */
export function isSingleGeometryFamily(counts: readonly number[]): boolean {
  const present = counts.flatMap((count, kind) => (kind !== Kind.none && count > 0 ? [kind] : []));
  return geometryFamilies.some((family) => present.every((kind) => family.includes(kind)));
}
