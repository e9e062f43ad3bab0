import type { Geometry, Position } from "./geometry.js";

type NestedPositions = Position | readonly NestedPositions[];

/** Visits the positions of a geometry, members of collections among them, in their order. */
export function forEachPosition(geometry: Geometry | null, visit: (position: Position) => void): void {
  if (geometry === null) return;
  if (geometry.type === "GeometryCollection") for (const member of geometry.geometries) forEachPosition(member, visit);
  else visitNested(geometry.coordinates, visit);
}

function visitNested(nested: NestedPositions, visit: (position: Position) => void): void {
  if (nested.length === 0) return;
  if (typeof nested[0] === "number") visit(nested as Position);
  else for (const part of nested as readonly NestedPositions[]) visitNested(part, visit);
}
