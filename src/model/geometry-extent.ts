import { forEachPosition } from "./for-each-position.js";
import type { Extent, Geometry, Position } from "./geometry.js";

/** Grows by geometries: least x, least y, greatest x, greatest y of all their positions. */
export class GeometryExtent {
  private minX = Number.POSITIVE_INFINITY;
  private minY = Number.POSITIVE_INFINITY;
  private maxX = Number.NEGATIVE_INFINITY;
  private maxY = Number.NEGATIVE_INFINITY;

  add(geometry: Geometry | null): void {
    forEachPosition(geometry, (position) => this.grow(position));
  }

  /** Null before the first position. */
  get extent(): Extent | null {
    return this.minX > this.maxX ? null : [this.minX, this.minY, this.maxX, this.maxY];
  }

  /** @param position of two numbers or more */
  grow([x, y]: Position): void {
    this.minX = Math.min(this.minX, x!);
    this.minY = Math.min(this.minY, y!);
    this.maxX = Math.max(this.maxX, x!);
    this.maxY = Math.max(this.maxY, y!);
  }
}

/** The box around both. */
export function unionExtents(one: Extent | null, other: Extent | null): Extent | null {
  if (one === null || other === null) return one ?? other;
  return [
    Math.min(one[0], other[0]),
    Math.min(one[1], other[1]),
    Math.max(one[2], other[2]),
    Math.max(one[3], other[3]),
  ];
}
