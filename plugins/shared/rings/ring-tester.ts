import type { Rings } from "./rings.js";

/**
 * The relation of an edge from a to b to a point: the point is on it, the ray from the point to the right crosses it,
 * or neither.
 */
const EdgeHit = { nothing: 0, ray: 1, point: 2 } as const;

function edgeHit(x: number, y: number, xa: number, ya: number, xb: number, yb: number): number {
  if (ya > y !== yb > y) {
    const turn = (xb - xa) * (y - ya) - (x - xa) * (yb - ya);
    if (turn === 0) return EdgeHit.point;
    return turn > 0 === yb > ya ? EdgeHit.ray : EdgeHit.nothing;
  }
  if (ya === y && yb === y) return x >= Math.min(xa, xb) && x <= Math.max(xa, xb) ? EdgeHit.point : EdgeHit.nothing;
  return xb === x && yb === y ? EdgeHit.point : EdgeHit.nothing;
}

/** Smaller rings are tested without an index. */
const maxUnindexedPositions = 64;
/** Number of queries of a large ring before its edges are indexed. */
const queriesBeforeIndexing = 4;

/** The edges of a ring by the slabs of y that they cross: slab s has `edges[offsets[s] … offsets[s + 1]]`. */
interface EdgeSlabs {
  readonly minY: number;
  /** Slabs per unit of y. */
  readonly scale: number;
  readonly offsets: Uint32Array;
  /** The index of an edge is that of its end position. */
  readonly edges: Uint32Array;
}

/** Tests where points lie relative to rings. Indexes the edges of a large ring after several queries. */
export class RingTester {
  /** Per large ring: its number of queries, later its slabs. */
  private large: Map<number, number | EdgeSlabs> | null = null;

  constructor(private readonly rings: Rings) {}

  /** Whether ring `inner` lies in ring `outer`, decided by its first position that is not on the line of the other. */
  contains(outer: number, inner: number): boolean {
    const { xy, starts, ends } = this.rings;
    const from = starts[inner]!;
    const to = ends[inner]!;
    for (let k = from; k < to; k++) {
      const found = this.side(xy[2 * k]!, xy[2 * k + 1]!, outer);
      if (found !== 0) return found > 0;
    }
    const next = Math.min(from + 1, to - 1);
    return this.side((xy[2 * from]! + xy[2 * next]!) / 2, (xy[2 * from + 1]! + xy[2 * next + 1]!) / 2, outer) >= 0;
  }

  /** Whether every position of ring `inner` is outside ring `outer`. */
  isApart(outer: number, inner: number): boolean {
    const { xy, starts, ends } = this.rings;
    for (let k = starts[inner]!; k < ends[inner]!; k++) {
      if (this.side(xy[2 * k]!, xy[2 * k + 1]!, outer) >= 0) return false;
    }
    return true;
  }

  /** The location of a point: 1 inside the ring, -1 outside, 0 on its line. */
  private side(x: number, y: number, ring: number): number {
    const { xy, starts, ends } = this.rings;
    const from = starts[ring]!;
    const to = ends[ring]!;
    if (to - from > maxUnindexedPositions) {
      const slabs = this.slabsFor(ring);
      if (slabs) return this.sideBySlabs(x, y, from, to, slabs);
    }
    let inside = -1;
    let xa = xy[2 * (to - 1)]!;
    let ya = xy[2 * to - 1]!;
    for (let k = from; k < to; k++) {
      const xb = xy[2 * k]!;
      const yb = xy[2 * k + 1]!;
      const meets = edgeHit(x, y, xa, ya, xb, yb);
      if (meets === EdgeHit.point) return 0;
      if (meets === EdgeHit.ray) inside = -inside;
      xa = xb;
      ya = yb;
    }
    return inside;
  }

  private sideBySlabs(x: number, y: number, from: number, to: number, slabs: EdgeSlabs): number {
    const { xy } = this.rings;
    const { offsets, edges } = slabs;
    const slab = Math.floor((y - slabs.minY) * slabs.scale);
    if (!(slab >= 0 && slab < offsets.length - 1)) return -1;
    let inside = -1;
    for (let e = offsets[slab]!; e < offsets[slab + 1]!; e++) {
      const b = edges[e]!;
      const a = b === from ? to - 1 : b - 1;
      const meets = edgeHit(x, y, xy[2 * a]!, xy[2 * a + 1]!, xy[2 * b]!, xy[2 * b + 1]!);
      if (meets === EdgeHit.point) return 0;
      if (meets === EdgeHit.ray) inside = -inside;
    }
    return inside;
  }

  /** The slabs of a ring, once it has had enough queries. */
  private slabsFor(ring: number): EdgeSlabs | null {
    this.large ??= new Map();
    const known = this.large.get(ring) ?? 0;
    if (typeof known !== "number") return known;
    const slabs = known < queriesBeforeIndexing ? null : buildEdgeSlabs(this.rings, ring);
    this.large.set(ring, slabs ?? known + 1);
    return slabs;
  }
}

/**
 * Chooses the number of slabs so that each has few edges, and all together have at most four times as many as the ring.
 */
function buildEdgeSlabs({ xy, starts, ends }: Rings, ring: number): EdgeSlabs {
  const from = starts[ring]!;
  const to = ends[ring]!;
  const count = to - from;
  let minY = Infinity;
  let maxY = -Infinity;
  let climb = 0;
  for (let b = from; b < to; b++) {
    const y = xy[2 * b + 1]!;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
    climb += Math.abs(y - xy[2 * (b === from ? to - 1 : b - 1) + 1]!);
  }
  const height = maxY - minY;
  const wanted = Math.max(1, Math.floor(Math.min(count / 2, (3 * count * height) / climb)) || 1);
  // The last slab holds the maximum y.
  const scale = wanted / height;
  const total = Number.isFinite(scale) ? wanted + 1 : 1;
  const slabOf = (y: number) => (total === 1 ? 0 : Math.floor((y - minY) * scale));
  const offsets = new Uint32Array(total + 1);
  const eachSlab = (visit: (slab: number, edge: number) => void) => {
    for (let b = from; b < to; b++) {
      const one = slabOf(xy[2 * b + 1]!);
      const other = slabOf(xy[2 * (b === from ? to - 1 : b - 1) + 1]!);
      for (let s = Math.min(one, other); s <= Math.max(one, other); s++) visit(s, b);
    }
  };
  eachSlab((slab) => {
    offsets[slab + 1]!++;
  });
  for (let s = 0; s < total; s++) offsets[s + 1]! += offsets[s]!;
  const edges = new Uint32Array(offsets[total]!);
  const next = offsets.slice();
  eachSlab((slab, edge) => {
    edges[next[slab]!++] = edge;
  });
  return { minY, scale: total === 1 ? 0 : scale, offsets, edges };
}
