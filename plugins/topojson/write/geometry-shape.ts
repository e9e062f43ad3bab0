/** Geometries as topojson-server gets them, and back. */
import type { Geometry, Position } from "../../../src/model/index.js";

/** What a geometry was before it became one for the library. */
export interface GeometryShape {
  readonly type: Geometry["type"] | null;
  /** The number of lines or rings of each part, if it was flattened to lines. */
  readonly parts: readonly number[] | null;
  readonly members: readonly GeometryShape[] | null;
}

/** A geometry for the library. A type that it does not know stays as it is: an empty geometry has no arcs. */
export type LibraryGeometry =
  | { type: "Point"; coordinates: Position }
  | { type: "MultiPoint"; coordinates: Position[] }
  | { type: "MultiLineString"; coordinates: Position[][] }
  | { type: "Empty"; coordinates: [] }
  | { type: "GeometryCollection"; geometries: LibraryGeometry[] };

const empty: LibraryGeometry = { type: "Empty", coordinates: [] };

/**
 * Converts a geometry. Rings become lines: the library begins a ring at another position if that saves an arc, but never
 * a line, so that all positions stay in their order. Arcs are shared all the same.
 */
export function toLibrary(geometry: Geometry): { readonly shape: GeometryShape; readonly geometry: LibraryGeometry } {
  const { type } = geometry;
  const plain = { type, parts: null, members: null };
  switch (geometry.type) {
    case "Point":
      return { shape: plain, geometry: geometry.coordinates.length === 0 ? empty : { ...geometry, type: "Point" } };
    case "MultiPoint":
      return { shape: plain, geometry: { type: "MultiPoint", coordinates: geometry.coordinates as Position[] } };
    case "LineString":
      return flatten(type, geometry.coordinates.length === 0 ? [] : [[geometry.coordinates as Position[]]]);
    case "Polygon":
    case "MultiLineString":
      return flatten(type, [geometry.coordinates as Position[][]]);
    case "MultiPolygon":
      return flatten(type, geometry.coordinates);
    case "GeometryCollection": {
      const members = geometry.geometries.map(toLibrary);
      return {
        shape: { type, parts: null, members: members.map(({ shape }) => shape) },
        geometry: { type: "GeometryCollection", geometries: members.map((member) => member.geometry) },
      };
    }
  }
}

/** Parts without positions are left out, which the library cannot hold. */
function flatten(type: Geometry["type"], polygons: readonly (readonly Position[][])[]) {
  const parts = polygons.map((lines) => lines.filter(({ length }) => length > 0));
  const shape = { type, parts: parts.map(({ length }) => length), members: null };
  return { shape, geometry: { type: "MultiLineString" as const, coordinates: parts.flat() } };
}

/** A geometry of the library's result. */
export interface LibraryResult {
  readonly type: string | null;
  readonly coordinates?: unknown;
  readonly arcs?: readonly (readonly number[])[];
  readonly geometries?: readonly LibraryResult[];
}

/** Writes a geometry of the result as the members of an object (TopoJSON 1.0, 2.2), without its braces. */
export function formatGeometry({ type, parts, members }: GeometryShape, result: LibraryResult): string {
  if (type === null) return '"type":null';
  const head = `"type":"${type}"`;
  if (type === "GeometryCollection") {
    const inner = members!.map((member, k) => `{${formatGeometry(member, result.geometries![k]!)}}`);
    return `${head},"geometries":[${inner.join(",")}]`;
  }
  if (type === "Point" || type === "MultiPoint")
    return `${head},"coordinates":${JSON.stringify(result.coordinates ?? [])}`;
  const lines = result.arcs ?? [];
  return `${head},"arcs":${JSON.stringify(groupArcs(type, parts!, lines))}`;
}

function groupArcs(type: Geometry["type"], parts: readonly number[], lines: readonly (readonly number[])[]): unknown {
  if (type === "LineString") return lines[0] ?? [];
  if (type !== "MultiPolygon") return lines;
  let from = 0;
  return parts.map((count) => {
    const polygon = lines.slice(from, from + count);
    from += count;
    return polygon;
  });
}
