import type { Extent } from "../../model/geometry.js";
import { wrapLongitude } from "../area.js";

/** Steps along each side, PROJ's default (`proj_trans_bounds`, densify_pts 21). */
const stepsPerSide = 22;
export const samplesPerSide = stepsPerSide + 1;

/**
 * Sample positions on the edges of a box, which may become curves, and inside, where a pole may lie: `samplesPerSide` from
 * south to north for each x, from west to east.
 */
export function sampleExtent([minX, minY, maxX, maxY]: Extent): Float64Array {
  const xy = new Float64Array(2 * samplesPerSide ** 2);
  let k = 0;
  for (let i = 0; i <= stepsPerSide; i++) {
    for (let j = 0; j <= stepsPerSide; j++) {
      xy[k++] = minX + ((maxX - minX) * i) / stepsPerSide;
      xy[k++] = minY + ((maxY - minY) * j) / stepsPerSide;
    }
  }
  return xy;
}

/** The extent of the finite positions. */
export function extentOfPositions(xy: Float64Array): Extent | null {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = 0; k < xy.length; k += 2) {
    const [x, y] = [xy[k]!, xy[k + 1]!];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  return box[0] > box[2] ? null : box;
}

/**
 * The extent of longitudes and latitudes in degrees; west > east if the positions lie on both sides of the antimeridian
 * with a gap of more than half of the globe between them.
 */
export function geographicExtentOf(xy: Float64Array): Extent | null {
  const box = extentOfPositions(xy);
  if (box === null) return null;
  const [west, south, east, north] = box;
  if (east - west <= 180) return [wrapLongitude(west), south, wrapLongitude(east), north];
  const longitudes = xy.filter((value, k) => k % 2 === 0 && Number.isFinite(value + xy[k + 1]!)).sort();
  for (let k = 1; k < longitudes.length; k++) {
    const [before, after] = [longitudes[k - 1]!, longitudes[k]!];
    if (after - before >= 180) return [wrapLongitude(after), south, wrapLongitude(before), north];
  }
  return box;
}
