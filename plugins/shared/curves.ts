import type { GeometryBuilder } from "../../src/model/geometry-builder.js";

/** Positions of a curve: x, y, z, m, four numbers each, NaN for a missing dimension. */
export type CurvePoints = number[];

/** Maximum angle between adjacent positions on a linearized arc, 4°, the value that GDAL and GEOS-based tools use. */
const maxArcStep = Math.PI / 45;

export function addPoints(builder: GeometryBuilder, points: CurvePoints): void {
  for (let k = 0; k < points.length; k += 4) {
    builder.addPositionZM(points[k]!, points[k + 1]!, points[k + 2]!, points[k + 3]!);
  }
}

/**
 * Linearizes a CIRCULARSTRING (SQL/MM part 3, 7.3): every two segments are an arc through three positions, of which the
 * middle one is kept. Three collinear positions stay a line; if the first equals the last, the middle one is opposite
 * on a full circle.
 */
export function linearizeArcs(points: CurvePoints): CurvePoints {
  const line = points.slice(0, 4);
  for (let k = 0; k + 8 < points.length; k += 8) addArc(line, points, k);
  return line;
}

/** Whether this number of positions forms a circular string: none, or one plus two per arc (ISO 13249-3, 7.3.1). */
export function isArcString(count: number): boolean {
  return count === 0 || (count > 2 && count % 2 === 1);
}

function addArc(line: CurvePoints, points: CurvePoints, k: number): void {
  const [x0, y0] = [points[k]!, points[k + 1]!];
  const [x1, y1] = [points[k + 4]!, points[k + 5]!];
  const [x2, y2] = [points[k + 8]!, points[k + 9]!];
  const whole = x0 === x2 && y0 === y2;
  // Relative to the first position, so that large eastings lose no digits.
  const [ax, ay, bx, by] = [x1 - x0, y1 - y0, x2 - x0, y2 - y0];
  const cross = 2 * (ax * by - ay * bx);
  const a = ax * ax + ay * ay;
  const b = bx * bx + by * by;
  const cx = whole ? x0 + ax / 2 : x0 + (by * a - ay * b) / cross;
  const cy = whole ? y0 + ay / 2 : y0 + (ax * b - bx * a) / cross;
  if (!Number.isFinite(cx + cy) || a === 0) {
    line.push(...points.slice(k + 4, k + 12));
    return;
  }
  const turn = 2 * Math.PI;
  const [from, middle, to] = [Math.atan2(y0 - cy, x0 - cx), Math.atan2(y1 - cy, x1 - cx), Math.atan2(y2 - cy, x2 - cx)];
  const forward = (angle: number, start: number) => (((angle - start) % turn) + turn) % turn;
  const left = whole || forward(middle, from) <= forward(to, from);
  const sweep = (start: number, end: number) => (left ? forward(end, start) : -forward(start, end));
  const radius = Math.hypot(x0 - cx, y0 - cy);
  addArcPositions(line, points, k, cx, cy, radius, from, sweep(from, middle));
  addArcPositions(line, points, k + 4, cx, cy, radius, middle, sweep(middle, whole ? from : to));
}

/** The positions after the point at `k` up to the point at `k + 4`; z and m are interpolated linearly. */
function addArcPositions(
  line: CurvePoints,
  points: CurvePoints,
  k: number,
  cx: number,
  cy: number,
  radius: number,
  start: number,
  sweep: number,
): void {
  const count = Math.max(1, Math.ceil(Math.abs(sweep) / maxArcStep - 1e-9));
  for (let n = 1; n < count; n++) {
    const share = n / count;
    const angle = start + sweep * share;
    const between = (d: number) => points[k + d]! + (points[k + 4 + d]! - points[k + d]!) * share;
    line.push(cx + radius * Math.cos(angle), cy + radius * Math.sin(angle), between(2), between(3));
  }
  line.push(...points.slice(k + 4, k + 8));
}

/** Appends a segment of a compound curve, without its first position if that repeats the last. */
export function appendCurveSegment(line: CurvePoints, segment: CurvePoints): void {
  const last = line.length - 4;
  const repeats = last >= 0 && line[last] === segment[0] && line[last + 1] === segment[1];
  for (let k = repeats ? 4 : 0; k < segment.length; k++) line.push(segment[k]!);
}

/** Closes an open ring by repeating its first position; returns whether it was open. */
export function closeRing(ring: CurvePoints): boolean {
  const last = ring.length - 4;
  if (last < 4 || Number.isNaN(ring[0]) || (ring[0] === ring[last] && ring[1] === ring[last + 1])) return false;
  ring.push(ring[0]!, ring[1]!, ring[2]!, ring[3]!);
  return true;
}
