/** What quantization takes away. */
import type { Position } from "../../../src/model/index.js";
import type { GeometryShape, LibraryGeometry } from "./geometry-shape.js";

/** The grid of a quantized topology: `position = index × scale + translate` (TopoJSON 1.0, 2.1.2). */
export interface Grid {
  readonly scale: readonly number[];
  readonly translate: readonly number[];
}

/** The positions on the grid, without repetitions. */
function gridPositions(line: readonly Position[], { scale, translate }: Grid): Set<string> {
  return new Set(
    line.map(
      ([x, y]) => `${Math.round((x! - translate[0]!) / scale[0]!)} ${Math.round((y! - translate[1]!) / scale[1]!)}`,
    ),
  );
}

/** Whether a line of the geometry becomes one place, or a ring at most two. */
export function collapses({ type, members }: GeometryShape, geometry: LibraryGeometry, grid: Grid): boolean {
  if (geometry.type === "GeometryCollection")
    return geometry.geometries.some((member, k) => collapses(members![k]!, member, grid));
  if (geometry.type !== "MultiLineString") return false;
  const isRing = type === "Polygon" || type === "MultiPolygon";
  return geometry.coordinates.some((line) => {
    const least = isRing ? 3 : 2;
    return new Set(line.map(String)).size >= least && gridPositions(line, grid).size < least;
  });
}
