/**
 * Splits rings that touch themselves. ArcGIS allows a ring to touch itself at a vertex: a loop of a shell is then a hole
 * or another shell. OGC Simple Features requires simple rings, one for each loop (06-103r4, 6.1.11.1).
 */
import { assignRings, type Rings, signedArea } from "./rings.js";

/** Rings of a polygon record as indexes of positions, without closing ones; `owners` as in `RingAssignment`. */
export interface SplitRings {
  readonly loops: readonly number[][];
  readonly owners: Int32Array;
}

/**
 * Splits the rings of a polygon that touch themselves, and reassigns holes to shells. Null if no ring touches itself, or
 * if a loop would be in no shell.
 *
 * @param owners of the rings before splitting
 * @param touching which rings may touch themselves; these must be closed
 */
export function splitTouchingRings(rings: Rings, owners: Int32Array, touching: readonly boolean[]): SplitRings | null {
  const { xy, starts, ends } = rings;
  const loops: number[][] = [];
  /** Whether the interior is on the right of the loop (clockwise shells), as the format requires. */
  const onRight: boolean[] = [];
  let cut = false;
  starts.forEach((from, r) => {
    const to = ends[r]!;
    const right = (owners[r] === r) === signedArea(xy, from, to) < 0;
    const found = touching[r] ? splitIntoLoops(xy, from, to, right) : null;
    if (found) cut = true;
    for (const loop of found ?? [openRingIndices(xy, from, to)]) {
      loops.push(loop);
      onRight.push(right);
    }
  });
  if (!cut) return null;
  const assignment = assignRings(closedRings(xy, loops, onRight));
  return assignment.turned > 0 ? null : { loops, owners: assignment.owners };
}

function openRingIndices(xy: Float64Array, from: number, to: number): number[] {
  const closed = xy[2 * from] === xy[2 * to - 2] && xy[2 * from + 1] === xy[2 * to - 1];
  return indexRange(from, closed ? to - 1 : to);
}

/** Converts loops to closed rings with the interior on the right. */
function closedRings(xy: Float64Array, loops: readonly number[][], onRight: readonly boolean[]): Rings {
  const starts: number[] = [];
  const ends: number[] = [];
  const placed = new Float64Array(2 * loops.reduce((sum, loop) => sum + loop.length + 1, 0));
  let at = 0;
  loops.forEach((loop, l) => {
    starts.push(at);
    const closed = [...loop, loop[0]!];
    for (const index of onRight[l] ? closed : closed.reverse()) {
      placed[2 * at] = xy[2 * index]!;
      placed[2 * at + 1] = xy[2 * index + 1]!;
      at++;
    }
    ends.push(at);
  });
  return { xy: placed, starts, ends };
}

/**
 * Splits a closed ring at the vertices where it touches itself into loops that visit each vertex once, as indexes of
 * positions without closing ones. Null if the ring does not touch itself, or if it crosses or overlaps itself at a
 * vertex: its interior is then ambiguous.
 *
 * @param xy positions; the ring is `from … to`, including the closing position
 * @param onRight whether the interior is on the right of the ring
 */
export function splitIntoLoops(xy: Float64Array, from: number, to: number, onRight: boolean): number[][] | null {
  const visits = findVisits(xy, from, to);
  const meetings = findSharedVertices(xy, visits.starts);
  if (meetings.length === 0) return null;
  const count = visits.starts.length;
  const nodes = Int32Array.from({ length: count }, (_, visit) => visit);
  const leaving = Int32Array.from(nodes);
  for (const meeting of meetings) {
    if (!relinkEdges(xy, visits.starts, meeting, onRight, leaving)) return null;
    for (const visit of meeting) nodes[visit] = meeting[0]!;
  }
  return closedWalks(leaving)
    .flatMap((walk) => splitWalk(walk, nodes))
    .map((loop) => loop.flatMap((visit) => indexRange(visits.starts[visit]!, visits.ends[visit]!)));
}

/** Visit `v` of a vertex is the positions `starts[v] … ends[v]`: one, or repetitions of it. */
interface VertexVisits {
  readonly starts: number[];
  readonly ends: number[];
}

function findVisits(xy: Float64Array, from: number, to: number): VertexVisits {
  const same = (a: number, b: number) => xy[2 * a] === xy[2 * b] && xy[2 * a + 1] === xy[2 * b + 1];
  let last = to - 1;
  while (last > from + 1 && same(last - 1, from)) last--;
  const starts: number[] = [];
  for (let k = from; k < last; k++) if (k === from || !same(k, k - 1)) starts.push(k);
  return { starts, ends: [...starts.slice(1), last] };
}

/** The visits of each vertex that has several, in the order of the ring. */
function findSharedVertices(xy: Float64Array, starts: readonly number[]): number[][] {
  const order = Uint32Array.from(starts, (_, visit) => visit).sort((a, b) => {
    const [i, j] = [2 * starts[a]!, 2 * starts[b]!];
    return xy[i]! - xy[j]! || xy[i + 1]! - xy[j + 1]! || a - b;
  });
  const meetings: number[][] = [];
  let open: number[] | null = null;
  for (let n = 1; n < order.length; n++) {
    const [before, visit] = [order[n - 1]!, order[n]!];
    const [i, j] = [2 * starts[before]!, 2 * starts[visit]!];
    if (xy[i] !== xy[j] || xy[i + 1] !== xy[j + 1]) open = null;
    else if (open) open.push(visit);
    else {
      open = [before, visit];
      meetings.push(open);
    }
  }
  return meetings;
}

/** An edge at a vertex where a ring touches itself, relative to the vertex. */
interface VertexEdge {
  readonly visit: number;
  readonly arriving: boolean;
  readonly x: number;
  readonly y: number;
}

/**
 * At a shared vertex, links each arriving edge to the leaving edge of the same part of the interior, so that no loop
 * continues into a part that it only touches. False if edges overlap, or if arriving and leaving edges do not alternate
 * around the vertex: the ring then crosses itself or winds twice.
 */
function relinkEdges(
  xy: Float64Array,
  starts: readonly number[],
  meeting: readonly number[],
  onRight: boolean,
  leaving: Int32Array,
): boolean {
  const count = starts.length;
  const vertex = starts[meeting[0]!]!;
  const spoke = (visit: number, neighbor: number, arriving: boolean): VertexEdge => {
    const other = starts[(neighbor + count) % count]!;
    return { visit, arriving, x: xy[2 * other]! - xy[2 * vertex]!, y: xy[2 * other + 1]! - xy[2 * vertex + 1]! };
  };
  const spokes = meeting
    .flatMap((visit) => [spoke(visit, visit - 1, true), spoke(visit, visit + 1, false)])
    .sort(compareAngles);
  for (let s = 0; s < spokes.length; s++) {
    const one = spokes[s]!;
    const next = spokes[(s + 1) % spokes.length]!;
    if (one.arriving === next.arriving || compareAngles(one, next) === 0) return false;
    // Counter-clockwise from an arriving edge lies its right side.
    if (one.arriving && onRight) leaving[one.visit] = next.visit;
    if (next.arriving && !onRight) leaving[next.visit] = one.visit;
  }
  return true;
}

/** Counter-clockwise from the positive x axis. */
function compareAngles(a: VertexEdge, b: VertexEdge): number {
  const half = (spoke: VertexEdge) => (spoke.y > 0 || (spoke.y === 0 && spoke.x > 0) ? 0 : 1);
  return half(a) - half(b) || Math.sign(b.x * a.y - a.x * b.y);
}

/** The closed walks of a ring after relinking: visit `v` continues as visit `leaving[v]`. */
function closedWalks(leaving: Int32Array): number[][] {
  const seen = new Uint8Array(leaving.length);
  const all: number[][] = [];
  for (let start = 0; start < leaving.length; start++) {
    if (seen[start]) continue;
    const walk: number[] = [];
    for (let visit = start; !seen[visit]; visit = (leaving[visit]! + 1) % leaving.length) {
      seen[visit] = 1;
      walk.push(visit);
    }
    all.push(walk);
  }
  return all;
}

/** Splits a walk at each vertex that it visits again. */
function splitWalk(walk: readonly number[], nodes: Int32Array): number[][] {
  const loops: number[][] = [];
  const path: number[] = [];
  const places = new Map<number, number>();
  for (const visit of walk) {
    const node = nodes[visit]!;
    const place = places.get(node);
    if (place !== undefined) {
      const loop = path.splice(place);
      for (const each of loop) places.delete(nodes[each]!);
      loops.push(loop);
    }
    places.set(node, path.length);
    path.push(visit);
  }
  return [path, ...loops];
}

function indexRange(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, k) => from + k);
}
