/** Densifies the curve segments of Esri JSON (ArcGIS REST API, "Geometry objects", JSON curve object). */
import { type CurvePoints, linearizeArcs } from "../../shared/curves.js";

/** Maximum angle between adjacent positions of an elliptic arc, 4°, as on circular arcs. */
const maxArcStep = Math.PI / 45;
/**
 * Maximum distance of a Bézier curve from its chords, relative to the length of its control polygon: that of an arc with
 * a position every 4° from its circle, relative to the radius.
 */
const bezierTolerance = 1 - Math.cos(maxArcStep / 2);
const maxBezierSteps = 1000;

type Numbers = readonly number[];

/**
 * Appends the positions after `start` of a circular arc through `interior` to `end`: x, y, z, m each.
 */
export function addCircularArc(line: CurvePoints, end: Numbers, interior: Numbers): void {
  const start = line.slice(-4);
  const between = (d: number) => (start[d]! + end[d]!) / 2;
  const points = [...start, interior[0]!, interior[1]!, between(2), between(3), ...end];
  for (const number of linearizeArcs(points).slice(4)) line.push(number);
}

/** An elliptic arc from the last position to `end`; angles in radians, counter-clockwise. */
export interface EllipticArc {
  readonly end: Numbers;
  readonly center: readonly [number, number];
  readonly isClockwise: boolean;
  /** From the x axis to the major axis. */
  readonly rotation: number;
  /** The semi-major axis; null for a circular arc, whose radius is the distance of the center. */
  readonly semiMajor: number | null;
  /** Semi-minor to semi-major axis. */
  readonly ratio: number;
}

/** Appends the positions after the last of `line` up to `arc.end`. */
export function addEllipticArc(line: CurvePoints, arc: EllipticArc): void {
  const { end, center, rotation, ratio } = arc;
  const start = line.slice(-4);
  const [cos, sin] = [Math.cos(rotation), Math.sin(rotation)];
  // The eccentric anomaly of a position, in the axes of the ellipse.
  const toUnit = ([x, y]: Numbers): [number, number] => {
    const [dx, dy] = [x! - center[0], y! - center[1]];
    return [dx * cos + dy * sin, (dy * cos - dx * sin) / ratio];
  };
  const [unitStart, unitEnd] = [toUnit(start), toUnit(end)];
  const semiMajor = arc.semiMajor ?? Math.hypot(...unitStart);
  const from = Math.atan2(unitStart[1], unitStart[0]);
  const to = Math.atan2(unitEnd[1], unitEnd[0]);
  const turn = 2 * Math.PI;
  let sweep = (((to - from) % turn) + turn) % turn;
  const isWhole = start[0] === end[0] && start[1] === end[1];
  if (isWhole) sweep = arc.isClockwise ? -turn : turn;
  else if (arc.isClockwise) sweep -= turn;
  const steps = Math.max(1, Math.ceil(Math.abs(sweep) / maxArcStep - 1e-9));
  for (let n = 1; n < steps; n++) {
    const share = n / steps;
    const angle = from + sweep * share;
    const [u, v] = [semiMajor * Math.cos(angle), semiMajor * ratio * Math.sin(angle)];
    const between = (d: number) => start[d]! + (end[d]! - start[d]!) * share;
    line.push(center[0] + u * cos - v * sin, center[1] + u * sin + v * cos, between(2), between(3));
  }
  line.push(end[0]!, end[1]!, end[2]!, end[3]!);
}

/** Appends the positions after the last of `line` of a cubic Bézier curve to `end` with two control points. */
export function addBezierCurve(line: CurvePoints, end: Numbers, first: Numbers, second: Numbers): void {
  const start = line.slice(-4);
  const points = [start, first, second, end];
  let length = 0;
  for (let k = 1; k < 4; k++)
    length += Math.hypot(points[k]![0]! - points[k - 1]![0]!, points[k]![1]! - points[k - 1]![1]!);
  const bend = (d: number) =>
    Math.max(Math.abs(start[d]! - 2 * first[d]! + second[d]!), Math.abs(first[d]! - 2 * second[d]! + end[d]!));
  // The deviation of n chords is at most 6/8 of the largest second difference, divided by n² (Wang, 1984).
  const wanted = Math.sqrt((0.75 * Math.hypot(bend(0), bend(1))) / (bezierTolerance * length));
  const steps = Math.min(maxBezierSteps, Math.max(1, Math.ceil(wanted || 1)));
  for (let n = 1; n < steps; n++) {
    const t = n / steps;
    const s = 1 - t;
    const at = (d: number) =>
      s * s * s * start[d]! + 3 * s * s * t * first[d]! + 3 * s * t * t * second[d]! + t * t * t * end[d]!;
    const between = (d: number) => start[d]! + (end[d]! - start[d]!) * t;
    line.push(at(0), at(1), between(2), between(3));
  }
  line.push(end[0]!, end[1]!, end[2]!, end[3]!);
}
