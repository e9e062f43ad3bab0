import { isWithin, RingContainmentIndex, ringBoxes } from "./ring-containment-index.js";

/** Rings of one polygon record: ring r has the positions `starts[r] … ends[r]` of `xy`. */
export interface Rings {
  readonly xy: Float64Array;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Twice the signed area of a ring: negative for clockwise. Relative to its first position, to preserve precision. */
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

/** Areas of rings with coordinates up to this are finite; exact powers of two keep all digits when coordinates are scaled. */
const hugeCoordinate = 2 ** 500;
const hugeScale = 2 ** -600;

/** The same rings at a smaller scale if areas would be infinite, by which rings cannot be sorted. */
function scaleHuge(rings: Rings, areas: readonly number[]): Rings {
  const isHuge = !areas.every(Number.isFinite) && rings.xy.some((value) => Math.abs(value) > hugeCoordinate);
  return isHuge ? { ...rings, xy: rings.xy.map((value) => value * hugeScale) } : rings;
}

/** `owners[r]` is the ring that r is a hole of, or r itself for a shell. */
export interface RingAssignment {
  readonly owners: Int32Array;
  /** Rings with the wrong direction: counter-clockwise shells, and the clockwise holes in them. */
  readonly turned: number;
}

/**
 * Determines which rings are shells and which are their holes (Technical Description, "Polygon": shells are clockwise,
 * holes counter-clockwise, in any order). A hole belongs to the smallest shell around it. Counter-clockwise rings in no
 * shell have the wrong direction; nesting classifies them and the rings inside them.
 */
export function assignRings(rings: Rings): RingAssignment {
  const { xy, starts, ends } = rings;
  const count = starts.length;
  const owners = Int32Array.from({ length: count }, (_, r) => r);
  if (count === 1) return { owners, turned: 0 };
  const areas = starts.map((from, r) => signedArea(xy, from, ends[r]!));
  const scaled = scaleHuge(rings, areas);
  if (scaled !== rings) return assignRings(scaled);
  const shells: number[] = [];
  for (let r = 0; r < count; r++) if (areas[r]! < 0) shells.push(r);
  if (shells.length === count) return { owners, turned: 0 };

  const boxes = ringBoxes(rings);
  // A fast path: unless directions are wrong, only a shell can contain a hole.
  const only = shells.length === 1 ? shells[0]! : -1;
  // The largest shell has the most negative area.
  const around =
    only >= 0
      ? null
      : new RingContainmentIndex(
          rings,
          boxes,
          shells.sort((a, b) => areas[b]! - areas[a]! || a - b),
        );
  const lost: number[] = [];
  for (let r = 0; r < count; r++) {
    if (areas[r]! < 0) continue;
    const owner = around ? around.holderOf(r) : isWithin(boxes, r, only) ? only : undefined;
    if (owner === undefined) lost.push(r);
    else owners[r] = owner;
  }
  return { owners, turned: lost.length === 0 ? 0 : assignUnowned(rings, lost, owners, boxes, areas) };
}

/** Each shell, in order, followed by its holes. */
export function groupByShell(owners: Int32Array): number[][] {
  const groups = new Map<number, number[]>();
  owners.forEach((owner, ring) => {
    if (owner === ring) groups.set(ring, [ring]);
  });
  owners.forEach((owner, ring) => {
    if (owner !== ring) groups.get(owner)!.push(ring);
  });
  return [...groups.values()];
}

/**
 * Classifies the rings without a shell and all rings inside them: the larger ones are shells, and those directly inside
 * one are its holes.
 */
function assignUnowned(
  rings: Rings,
  lost: number[],
  owners: Int32Array,
  boxes: Float64Array,
  areas: readonly number[],
): number {
  const bySize = collectUnowned(rings, lost, owners, boxes, areas);
  const around = new RingContainmentIndex(rings, boxes, bySize);
  let turned = 0;
  for (let rank = bySize.length - 1; rank >= 0; rank--) {
    const ring = bySize[rank]!;
    const larger = around.smallestAround(ring, rank);
    owners[ring] = larger !== undefined && owners[larger] === larger ? larger : ring;
    if ((owners[ring] === ring) === areas[ring]! >= 0) turned++;
  }
  return turned;
}

/** The rings without a shell, the clockwise ones inside them and their presumed holes; smallest first. */
function collectUnowned(
  rings: Rings,
  lost: readonly number[],
  owners: Int32Array,
  boxes: Float64Array,
  areas: readonly number[],
): number[] {
  const bySize = (some: readonly number[]) =>
    [...some].sort((a, b) => Math.abs(areas[a]!) - Math.abs(areas[b]!) || b - a);
  const around = new RingContainmentIndex(rings, boxes, bySize(lost));
  const inside = new Set<number>();
  areas.forEach((area, ring) => {
    if (area < 0 && around.smallestAround(ring) !== undefined) inside.add(ring);
  });
  if (inside.size === 0) return bySize(lost);
  const holes = areas.flatMap((area, ring) => (area >= 0 && inside.has(owners[ring]!) ? [ring] : []));
  return bySize([...lost, ...inside, ...holes]);
}
