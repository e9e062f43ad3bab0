/** Sorts boxes along a Hilbert curve, as the reference implementation does (packedrtree.cpp of FlatGeobuf, hilbertSort). */
import { curveSteps } from "../../shared/hilbert-curve.js";

/** Cells of the curve along each axis, less one. */
const maxCell = 0xffff;

/** The position of a cell along the curve, 32 bits. */
function curvePosition(column: number, row: number): number {
  let state = 0;
  let position = 0;
  for (let shift = 14; shift >= 0; shift -= 2) {
    const step = curveSteps[(state << 4) | (((column >>> shift) & 3) << 2) | ((row >>> shift) & 3)]!;
    position = (position << 4) | (step & 15);
    state = step >>> 4;
  }
  return position >>> 0;
}

/**
 * Writes the sort keys of boxes, which ascend where positions along the curve descend.
 * @param boxes least x, least y, greatest x, greatest y of each; those of a feature without positions are last in the order
 * @param extent of all boxes
 */
export function writeCurveKeys(boxes: Float64Array, extent: Float64Array, keys: Uint32Array, at: number): void {
  const [minX, minY, maxX, maxY] = extent as unknown as [number, number, number, number];
  const width = maxX - minX;
  const height = maxY - minY;
  for (let k = 0, n = at; k < boxes.length; k += 4, n++) {
    const x = (boxes[k]! + boxes[k + 2]!) / 2;
    const y = (boxes[k + 1]! + boxes[k + 3]!) / 2;
    const column = width > 0 ? Math.floor((maxCell * (x - minX)) / width) : 0;
    const row = height > 0 ? Math.floor((maxCell * (y - minY)) / height) : 0;
    keys[n] = ~(boxes[k]! <= boxes[k + 2]! ? curvePosition(column, row) : 0);
  }
}

const digitBits = 16;
const digits = 1 << digitBits;

/** The indexes of the keys in ascending order; those of equal keys keep theirs. */
export function sortedIndexes(keys: Uint32Array): Uint32Array {
  let order = new Uint32Array(keys.length);
  for (let index = 0; index < order.length; index++) order[index] = index;
  let next = new Uint32Array(keys.length);
  for (let shift = 0; shift < 32; shift += digitBits) {
    const starts = new Uint32Array(digits + 1);
    for (let n = 0; n < keys.length; n++) starts[((keys[n]! >>> shift) & (digits - 1)) + 1]!++;
    for (let digit = 0; digit < digits; digit++) starts[digit + 1]! += starts[digit]!;
    for (let n = 0; n < order.length; n++) {
      const index = order[n]!;
      const digit = (keys[index]! >>> shift) & (digits - 1);
      next[starts[digit]!++] = index;
    }
    [order, next] = [next, order];
  }
  return order;
}
