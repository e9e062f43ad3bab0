import { Kind } from "../../src/model/index.js";

/** Kinds that every format can store in one layer. */
const geometryFamilies: readonly (readonly number[])[] = [
  [Kind.Point],
  [Kind.MultiPoint],
  [Kind.LineString, Kind.MultiLineString],
  [Kind.Polygon, Kind.MultiPolygon],
];

/** Whether every format can store geometries with these counts by kind in one layer. */
export function isSingleGeometryFamily(counts: readonly number[]): boolean {
  const present = counts.flatMap((count, kind) => (kind !== Kind.none && count > 0 ? [kind] : []));
  return geometryFamilies.some((family) => present.every((kind) => family.includes(kind)));
}
