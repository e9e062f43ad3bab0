/** Bounding boxes of geometries, computed once while their positions are in the processor's cache. */
import type { GeometryColumn } from "./geometry.js";

const emptyBox = [
  Number.POSITIVE_INFINITY,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
] as const;

/** Creates empty boxes, whose minimum is infinity and maximum −infinity. */
export function emptyBoxes(count: number): Float64Array {
  const boxes = new Float64Array(4 * count);
  for (let i = 0; i < boxes.length; i++) boxes[i] = emptyBox[i & 3]!;
  return boxes;
}

/** The parts of a geometry column that locate the positions of each feature. */
type PositionRanges = Pick<GeometryColumn, "length" | "partOffsets" | "ringOffsets" | "positionOffsets" | "xy">;

/**
 * Computes the boxes of all geometries of a column; null if a coordinate is not finite.
 * @param claimed the boxes that the source declares, four numbers each; wrong ones are computed
 */
export function computeBoxes(column: PositionRanges, claimed: Float64Array): Float64Array | null {
  const { length, xy, partOffsets, ringOffsets, positionOffsets } = column;
  const boxes = new Float64Array(4 * length);
  boxes.set(claimed.subarray(0, boxes.length));
  let from = 0;
  for (let i = 0; i < length; i++) {
    const to = positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!;
    if (!isBoxOf(xy, from, to, boxes, 4 * i) && !computeBox(xy, from, to, boxes, 4 * i)) return null;
    from = to;
  }
  return boxes;
}

/**
 * Writes least x, least y, greatest x and greatest y of the positions `from` … `to` to `box[at]` … `box[at + 3]`.
 * @returns false if a coordinate is not finite; then the box must not be used
 */
export function computeBox(xy: Float64Array, from: number, to: number, box: Float64Array, at: number): boolean {
  let west = Number.POSITIVE_INFINITY;
  let south = Number.POSITIVE_INFINITY;
  let east = Number.NEGATIVE_INFINITY;
  let north = Number.NEGATIVE_INFINITY;
  let sumX = 0;
  let sumY = 0;
  const end = 2 * to;
  for (let k = 2 * from; k < end; k += 2) {
    const x = xy[k]!;
    const y = xy[k + 1]!;
    if (x < west) west = x;
    if (x > east) east = x;
    if (y < south) south = y;
    if (y > north) north = y;
    // A number minus itself is 0 unless it is NaN or infinite.
    sumX += x - x;
    sumY += y - y;
  }
  box[at] = west;
  box[at + 1] = south;
  box[at + 2] = east;
  box[at + 3] = north;
  return sumX + sumY === 0;
}

/**
 * Whether `box[at]` … `box[at + 3]` is the box of the positions `from` … `to`, and all of them are finite.
 *
 * It takes half the time of `computeBox`: the branch predictor handles comparisons that rarely hold, while minimum and
 * maximum change often and irregularly.
 */
export function isBoxOf(xy: Float64Array, from: number, to: number, box: Float64Array, at: number): boolean {
  const west = box[at]!;
  const south = box[at + 1]!;
  const east = box[at + 2]!;
  const north = box[at + 3]!;
  if (!Number.isFinite(west + south + east + north)) return false;
  let touched = 0;
  const end = 2 * to;
  for (let k = 2 * from; k < end; k += 2) {
    const x = xy[k]!;
    const y = xy[k + 1]!;
    // Negated, so that NaN takes this branch.
    if (!(x > west)) {
      if (x !== west) return false;
      touched |= 1;
    }
    if (!(y > south)) {
      if (y !== south) return false;
      touched |= 2;
    }
    if (!(x < east)) {
      if (x !== east) return false;
      touched |= 4;
    }
    if (!(y < north)) {
      if (y !== north) return false;
      touched |= 8;
    }
  }
  return touched === 15;
}
