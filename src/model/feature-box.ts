import type { Extent, GeometryColumn } from "./geometry.js";
import { unionExtents } from "./geometry-extent.js";

/** Min x, min y, max x, max y; min > max (infinities) if empty. */
export type Box = Float64Array;

export function clearBox(box: Box): void {
  box[0] = Number.POSITIVE_INFINITY;
  box[1] = Number.POSITIVE_INFINITY;
  box[2] = Number.NEGATIVE_INFINITY;
  box[3] = Number.NEGATIVE_INFINITY;
}

/** Widens the box by the positions of feature `i` and its members. @returns whether all are finite */
export function widenBox(box: Box, column: GeometryColumn, i: number): boolean {
  if (column.boxes && !column.members) {
    for (let side = 0; side < 4; side++) box[side] = column.boxes[4 * i + side]!;
    return true;
  }
  const { xy, partOffsets, ringOffsets, positionOffsets } = column;
  const from = positionOffsets[ringOffsets[partOffsets[i]!]!]!;
  const to = positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!;
  let minX = box[0]!;
  let minY = box[1]!;
  let maxX = box[2]!;
  let maxY = box[3]!;
  let sum = 0;
  for (let k = 2 * from; k < 2 * to; k += 2) {
    const x = xy[k]!;
    const y = xy[k + 1]!;
    // x - x is 0 unless x is NaN or infinite.
    sum += x + y - (x + y);
    if (x < minX) minX = x;
    if (y < minY) minY = y;
    if (x > maxX) maxX = x;
    if (y > maxY) maxY = y;
  }
  if (sum !== 0) return false;
  box[0] = minX;
  box[1] = minY;
  box[2] = maxX;
  box[3] = maxY;
  const { members, memberOffsets } = column;
  if (!members || !memberOffsets) return true;
  for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) if (!widenBox(box, members, k)) return false;
  return true;
}

/** The extent of all features, members included; null without positions, or if one is infinite. */
export function extentOfColumn(column: GeometryColumn): Extent | null {
  const { length, xy, boxes, partOffsets, ringOffsets, positionOffsets, members } = column;
  if (boxes && !members) return extentOfCorners(boxes, 0, 4 * length, 4);
  const from = positionOffsets[ringOffsets[partOffsets[0]!]!]!;
  const to = positionOffsets[ringOffsets[partOffsets[length]!]!]!;
  const own = extentOfCorners(xy, 2 * from, 2 * to, 2);
  return members ? unionExtents(own, extentOfColumn(members)) : own;
}

/** The extent of positions, or of boxes, which have four numbers: two corners, infinite without positions. */
function extentOfCorners(numbers: Float64Array, from: number, to: number, size: 2 | 4): Extent | null {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = from; k < to; k += size) {
    const x = numbers[k]!;
    const y = numbers[k + 1]!;
    const right = numbers[k + size - 2]!;
    const top = numbers[k + size - 1]!;
    if (x < minX) minX = x;
    if (y < minY) minY = y;
    if (right > maxX) maxX = right;
    if (top > maxY) maxY = top;
  }
  return Number.isFinite(minX + minY + maxX + maxY) ? [minX, minY, maxX, maxY] : null;
}
