/** Rings of one polygon record: ring r has the positions `starts[r] … ends[r]` of `xy`. */
export interface Rings {
  readonly xy: Float64Array;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Twice the signed area of a ring: negative for clockwise. Relative to its first position, to keep precision. */
export function signedArea(xy: Float64Array, from: number, to: number): number {
  const x0 = xy[2 * from]!;
  const y0 = xy[2 * from + 1]!;
  let area = 0;
  let px = 0;
  let py = 0;
  for (let k = from + 1; k < to; k++) {
    const x = xy[2 * k]! - x0;
    const y = xy[2 * k + 1]! - y0;
    area += px * y - x * py;
    px = x;
    py = y;
  }
  return area;
}

type Box = readonly [number, number, number, number];

function boxOf(xy: Float64Array, from: number, to: number): Box {
  let [minX, minY, maxX, maxY] = [xy[2 * from]!, xy[2 * from + 1]!, xy[2 * from]!, xy[2 * from + 1]!];
  for (let k = from + 1; k < to; k++) {
    const x = xy[2 * k]!;
    const y = xy[2 * k + 1]!;
    if (x < minX) minX = x;
    else if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    else if (y > maxY) maxY = y;
  }
  return [minX, minY, maxX, maxY];
}

const within = (inner: Box, outer: Box) =>
  inner[0] >= outer[0] && inner[1] >= outer[1] && inner[2] <= outer[2] && inner[3] <= outer[3];

/** Where a point lies: 1 inside the ring, -1 outside, 0 on its line. */
function side(x: number, y: number, xy: Float64Array, from: number, to: number): number {
  let inside = -1;
  let xa = xy[2 * (to - 1)]!;
  let ya = xy[2 * to - 1]!;
  for (let k = from; k < to; k++) {
    const xb = xy[2 * k]!;
    const yb = xy[2 * k + 1]!;
    if (ya > y !== yb > y) {
      const turn = (xb - xa) * (y - ya) - (x - xa) * (yb - ya);
      if (turn === 0) return 0;
      if (turn > 0 === yb > ya) inside = -inside;
    } else if (ya === y && yb === y) {
      if (x >= Math.min(xa, xb) && x <= Math.max(xa, xb)) return 0;
    } else if (xb === x && yb === y) return 0;
    xa = xb;
    ya = yb;
  }
  return inside;
}

/** Whether ring `inner` lies in ring `outer`: the first of its positions that is not on the other's line decides. */
function contains(rings: Rings, outer: number, inner: number): boolean {
  const { xy, starts, ends } = rings;
  const [from, to] = [starts[outer]!, ends[outer]!];
  for (let k = starts[inner]!; k < ends[inner]!; k++) {
    const found = side(xy[2 * k]!, xy[2 * k + 1]!, xy, from, to);
    if (found !== 0) return found > 0;
  }
  const k = starts[inner]!;
  const next = Math.min(k + 1, ends[inner]! - 1);
  const middle = [(xy[2 * k]! + xy[2 * next]!) / 2, (xy[2 * k + 1]! + xy[2 * next + 1]!) / 2] as const;
  return side(middle[0], middle[1], xy, from, to) >= 0;
}

/** `owners[r]` is the ring that r is a hole of, or r itself for a shell. */
export interface Assignment {
  readonly owners: Int32Array;
  /** Counter-clockwise rings that lie in no shell and were taken for shells. */
  readonly turned: number;
}

/**
 * Which rings are shells and which are holes of which (Technical Description, "Polygon": shells are clockwise, holes
 * counter-clockwise, in any order). A hole belongs to the smallest shell around it. Counter-clockwise rings that lie
 * in no shell have the wrong direction: among them nesting decides.
 */
export function assignRings(rings: Rings): Assignment {
  const { xy, starts, ends } = rings;
  const count = starts.length;
  const owners = Int32Array.from({ length: count }, (_, r) => r);
  if (count === 1) return { owners, turned: 0 };
  const areas = starts.map((from, r) => signedArea(xy, from, ends[r]!));
  const shells: number[] = [];
  for (let r = 0; r < count; r++) if (areas[r]! < 0) shells.push(r);
  if (shells.length === count) return { owners, turned: 0 };

  const boxes = starts.map((from, r) => boxOf(xy, from, ends[r]!));
  const size = (r: number) => Math.abs(areas[r]!);
  // Only shells can be around a hole unless directions are wrong, so this is enough for nearly every polygon.
  const bySize = [...shells].sort((a, b) => size(a) - size(b));
  const lost: number[] = [];
  for (let r = 0; r < count; r++) {
    if (areas[r]! < 0) continue;
    const around = bySize.filter((shell) => within(boxes[r]!, boxes[shell]!));
    const owner = around.length === 1 ? around[0] : around.find((shell) => contains(rings, shell, r));
    if (owner === undefined) lost.push(r);
    else owners[r] = owner;
  }
  return { owners, turned: lost.length === 0 ? 0 : nest(rings, lost, owners, boxes, size) };
}

/** Rings without a shell: the larger ones are shells, those right inside one of them its holes. */
function nest(
  rings: Rings,
  lost: readonly number[],
  owners: Int32Array,
  boxes: readonly Box[],
  size: (ring: number) => number,
): number {
  const bySize = [...lost].sort((a, b) => size(b) - size(a) || a - b);
  let turned = 0;
  for (let i = 0; i < bySize.length; i++) {
    const ring = bySize[i]!;
    owners[ring] = ring;
    for (let j = i - 1; j >= 0; j--) {
      const larger = bySize[j]!;
      if (!within(boxes[ring]!, boxes[larger]!) || !contains(rings, larger, ring)) continue;
      if (owners[larger] === larger) owners[ring] = larger;
      break;
    }
    if (owners[ring] === ring) turned++;
  }
  return turned;
}
