/** How far a geometry moved. */
import { geodesicDistance } from "../../crs/geodesic.js";
import { hasSameStructure, type Shape } from "./shape.js";

export interface Movement {
  /**
   * Metres: of shapes with the same number of positions, the greatest distance between positions at the same place in
   * both; of others, the greatest distance from a position of either shape to the nearest point of the other one. Null
   * if it cannot be measured: one side has no geometry, the reference system is unknown, or the shapes are too large.
   */
  readonly distance: number | null;
  /** The greatest change of a height in metres, with its sign; null if there is none or the positions differ in number. */
  readonly heightChange: number | null;
  /** Numbers of positions. */
  readonly positions: readonly [old: number, new: number];
}

/** Converts interleaved positions in place to longitude and latitude in degrees; null if that is not possible. */
export type ToDegrees = ((xy: Float64Array) => void) | null;

/** Pairs of a position and a segment that are measured for a feature: about half a second. */
const maxPairs = 2e7;

export function measureMovement(old: Shape | null, recent: Shape | null, toDegrees: ToDegrees): Movement {
  const count = (shape: Shape | null): number => (shape === null ? 0 : shape.xy.length / 2);
  const positions = [count(old), count(recent)] as const;
  if (old === null || recent === null) return { distance: null, heightChange: null, positions };
  const heightChange = hasSameStructure(old, recent) ? greatestHeightChange(old.z, recent.z) : null;
  if (toDegrees === null) return { distance: null, heightChange, positions };
  const [before, after] = [old, recent].map((shape) => {
    const xy = shape.xy.slice();
    toDegrees(xy);
    return { ...shape, xy };
  }) as [Shape, Shape];
  const distance = hasSameStructure(old, recent) ? pairedDistance(before.xy, after.xy) : separation(before, after);
  return { distance: distance !== null && Number.isFinite(distance) ? distance : null, heightChange, positions };
}

function greatestHeightChange(old: Float64Array, recent: Float64Array): number | null {
  let greatest = 0;
  for (let k = 0; k < old.length; k++) {
    const change = recent[k]! - old[k]!;
    if (Math.abs(change) > Math.abs(greatest)) greatest = change;
  }
  return greatest === 0 ? null : greatest;
}

function pairedDistance(old: Float64Array, recent: Float64Array): number {
  let greatest = 0;
  for (let at = 0; at < old.length; at += 2) {
    if (old[at] === recent[at] && old[at + 1] === recent[at + 1]) continue;
    const distance = geodesicDistance(old[at]!, old[at + 1]!, recent[at]!, recent[at + 1]!);
    if (!(distance <= greatest)) greatest = distance;
  }
  return greatest;
}

/** The Hausdorff distance between the positions of each shape and the lines of the other. */
function separation(old: Shape, recent: Shape): number | null {
  if ((old.xy.length * recent.xy.length) / 4 > maxPairs) return null;
  return Math.max(farthest(old, recent), farthest(recent, old));
}

function farthest(from: Shape, to: Shape): number {
  let greatest = 0;
  for (let at = 0; at < from.xy.length; at += 2) {
    const [x, y] = [from.xy[at]!, from.xy[at + 1]!];
    const [nearX, nearY] = nearestPoint(x, y, to);
    if (nearX === x && nearY === y) continue;
    const distance = geodesicDistance(x, y, nearX, nearY);
    if (!(distance <= greatest)) greatest = distance;
  }
  return greatest;
}

/** The nearest point of the lines of a shape, on a plane that touches the Earth at the position. */
function nearestPoint(x: number, y: number, { xy, rings }: Shape): readonly [number, number] {
  const stretch = Math.cos((y * Math.PI) / 180);
  let least = Number.POSITIVE_INFINITY;
  let nearest: readonly [number, number] = [Number.NaN, Number.NaN];
  for (let ring = 0; ring + 1 < rings.length; ring++) {
    const [first, end] = [rings[ring]!, rings[ring + 1]!];
    for (let k = first; k < Math.max(end - 1, first + 1); k++) {
      const last = Math.min(k + 1, end - 1);
      const [ax, ay] = [(xy[2 * k]! - x) * stretch, xy[2 * k + 1]! - y];
      const [dx, dy] = [(xy[2 * last]! - xy[2 * k]!) * stretch, xy[2 * last + 1]! - xy[2 * k + 1]!];
      const length = dx * dx + dy * dy;
      const share = length === 0 ? 0 : Math.min(1, Math.max(0, -(ax * dx + ay * dy) / length));
      const [px, py] = [ax + share * dx, ay + share * dy];
      const squared = px * px + py * py;
      if (squared >= least) continue;
      least = squared;
      nearest = [
        xy[2 * k]! + share * (xy[2 * last]! - xy[2 * k]!),
        xy[2 * k + 1]! + share * (xy[2 * last + 1]! - xy[2 * k + 1]!),
      ];
    }
  }
  return nearest;
}
