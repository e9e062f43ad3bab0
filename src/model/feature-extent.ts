/** Bounding boxes of features, in degrees. */
import type { Geometry } from "./geometry.js";

export type Box = [west: number, south: number, east: number, north: number];

type NestedPositions = readonly number[] | readonly NestedPositions[];

/** All positions of a geometry. */
export function* positionsOf(geometry: Geometry): Generator<readonly number[]> {
  if (geometry.type === "GeometryCollection") {
    for (const part of geometry.geometries) yield* positionsOf(part);
  } else yield* nestedPositions(geometry.coordinates as NestedPositions);
}

function* nestedPositions(nested: NestedPositions): Generator<readonly number[]> {
  if (typeof nested[0] === "number") yield nested as readonly number[];
  else for (const part of nested as readonly NestedPositions[]) yield* nestedPositions(part);
}

/** Null for an empty geometry. */
export function boundingBoxOf(geometry: Geometry): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [longitude, latitude] of positionsOf(geometry)) {
    box[0] = Math.min(box[0], longitude!);
    box[1] = Math.min(box[1], latitude!);
    box[2] = Math.max(box[2], longitude!);
    box[3] = Math.max(box[3], latitude!);
  }
  return box[0] <= box[2] ? box : null;
}

/** Extent of many features, which may lie on both sides of the antimeridian. */
export class FeatureExtent {
  /** Degrees of longitude that a feature covers. */
  readonly #taken = new Uint8Array(360);
  readonly #all: Box = [Infinity, Infinity, -Infinity, -Infinity];
  /** Westernmost start and easternmost end within each degree. */
  readonly #least = new Float64Array(360).fill(Infinity);
  readonly #greatest = new Float64Array(360).fill(-Infinity);

  add([west, south, east, north]: Box): void {
    const [first, last] = [degreeIndex(west), degreeIndex(east)];
    this.#taken.fill(1, first, last + 1);
    this.#least[first] = Math.min(this.#least[first]!, west);
    this.#greatest[last] = Math.max(this.#greatest[last]!, east);
    this.#all[0] = Math.min(this.#all[0], west);
    this.#all[1] = Math.min(this.#all[1], south);
    this.#all[2] = Math.max(this.#all[2], east);
    this.#all[3] = Math.max(this.#all[3], north);
  }

  /** The narrowest box; its east exceeds 180 if it crosses the antimeridian. Null if no feature was added. */
  box(): Box | null {
    const [west, south, east, north] = this.#all;
    if (west > east) return null;
    const gap = this.#widestGap();
    if (gap === null || gap.end - gap.start <= 360 - (east - west)) return [west, south, east, north];
    return [this.#least[gap.end]!, south, this.#greatest[gap.start - 1]! + 360, north];
  }

  /** The widest range of uncovered degrees between covered ones. */
  #widestGap(): { start: number; end: number } | null {
    let widest: { start: number; end: number } | null = null;
    let start = this.#taken.indexOf(1);
    while (start >= 0) {
      start = this.#taken.indexOf(0, start);
      const end = start < 0 ? -1 : this.#taken.indexOf(1, start);
      if (end >= 0 && (widest === null || end - start > widest.end - widest.start)) widest = { start, end };
      start = end;
    }
    return widest;
  }
}

const degreeIndex = (longitude: number): number => Math.min(359, Math.max(0, Math.floor(longitude + 180)));
