/** Finds the ring that contains another: a tree of boxes finds the candidates, and the positions decide. */
import { RingTester } from "./ring-tester.js";
import type { Rings } from "./rings.js";

/** Packed boxes: minimum x, minimum y, maximum x, maximum y of ring r from `4 * r`. */
export function ringBoxes({ xy, starts, ends }: Rings): Float64Array {
  const boxes = new Float64Array(4 * starts.length);
  for (let r = 0; r < starts.length; r++) {
    const from = starts[r]!;
    const to = ends[r]!;
    let minX = xy[2 * from]!;
    let minY = xy[2 * from + 1]!;
    let maxX = minX;
    let maxY = minY;
    for (let k = from + 1; k < to; k++) {
      const x = xy[2 * k]!;
      const y = xy[2 * k + 1]!;
      if (x < minX) minX = x;
      else if (x > maxX) maxX = x;
      if (y < minY) minY = y;
      else if (y > maxY) maxY = y;
    }
    boxes[4 * r] = minX;
    boxes[4 * r + 1] = minY;
    boxes[4 * r + 2] = maxX;
    boxes[4 * r + 3] = maxY;
  }
  return boxes;
}

/** Whether the box of ring `inner` is within that of ring `outer`. */
export const isWithin = (boxes: Float64Array, inner: number, outer: number): boolean =>
  boxCovers(boxes, 4 * outer, boxes, 4 * inner);

const boxCovers = (outer: Float64Array, o: number, inner: Float64Array, i: number): boolean =>
  inner[i]! >= outer[o]! &&
  inner[i + 1]! >= outer[o + 1]! &&
  inner[i + 2]! <= outer[o + 2]! &&
  inner[i + 3]! <= outer[o + 3]!;

/** Boxes per node of the tree; also the number of rings up to which no tree is built. */
const nodeFanOut = 16;

/** One level of the tree: node n covers the nodes from `nodeFanOut * n` of the level below, or as many rings. */
interface Level {
  readonly boxes: Float64Array;
  /** The lowest rank in each node. */
  readonly ranks: Int32Array;
}

/** An index of rings that returns the smallest one around a given ring. */
export class RingContainmentIndex {
  private readonly tester: RingTester;
  /** Ranks of the rings in leaf order, in which neighbors in the plane are adjacent. Empty if no tree is needed. */
  private readonly leaves: Int32Array;
  private readonly levels: readonly Level[];

  /** @param bySize the rings, smallest first; the index of a ring here is its rank */
  constructor(
    rings: Rings,
    private readonly boxes: Float64Array,
    private readonly bySize: readonly number[],
  ) {
    this.tester = new RingTester(rings);
    this.leaves = new Int32Array(bySize.length > nodeFanOut ? bySize.length : 0);
    if (this.leaves.length > 0) this.sortLeaves();
    this.levels = this.grow();
  }

  /** The smallest ring with a rank above `after` that contains the ring. */
  smallestAround(ring: number, after = -1): number | undefined {
    const { tester, bySize } = this;
    const least = this.leastRank(ring, after);
    if (least < 0) return undefined;
    if (tester.contains(bySize[least]!, ring)) return bySize[least];
    const others = this.ranksAround(ring, least);
    const rank = others.find((each) => tester.contains(bySize[each]!, ring));
    return rank === undefined ? undefined : bySize[rank];
  }

  /**
   * The ring that a hole belongs to: the smallest one around it, or the only candidate, because holes sometimes extend
   * slightly beyond their shells.
   */
  holderOf(hole: number): number | undefined {
    const found = this.smallestAround(hole);
    if (found !== undefined) return found;
    const [rank, ...others] = this.ranksAround(hole, -1);
    if (rank === undefined || others.length > 0) return undefined;
    return this.tester.isApart(this.bySize[rank]!, hole) ? undefined : this.bySize[rank];
  }

  /** Sort-tile-recursive: strips by x, and each of them by y (Leutenegger, Lopez and Edgington, 1997). */
  private sortLeaves(): void {
    const { leaves, boxes, bySize } = this;
    const middle = (rank: number, axis: number) =>
      boxes[4 * bySize[rank]! + axis]! + boxes[4 * bySize[rank]! + axis + 2]!;
    for (let rank = 0; rank < leaves.length; rank++) leaves[rank] = rank;
    leaves.sort((a, b) => middle(a, 0) - middle(b, 0));
    const strip = nodeFanOut * Math.ceil(Math.sqrt(leaves.length / nodeFanOut));
    for (let from = 0; from < leaves.length; from += strip) {
      leaves.subarray(from, from + strip).sort((a, b) => middle(a, 1) - middle(b, 1));
    }
  }

  /** Builds the levels above the rings, the lowest first. */
  private grow(): Level[] {
    const { leaves, boxes, bySize } = this;
    const levels: Level[] = [];
    for (let count = leaves.length; count > nodeFanOut; count = levels.at(-1)!.ranks.length) {
      const below = levels.at(-1);
      const nodes = Math.ceil(count / nodeFanOut);
      const level = { boxes: new Float64Array(4 * nodes), ranks: new Int32Array(nodes).fill(bySize.length) };
      for (let n = 0; n < nodes; n++) {
        level.boxes.set([Infinity, Infinity, -Infinity, -Infinity], 4 * n);
        const end = Math.min(count, nodeFanOut * (n + 1));
        for (let child = nodeFanOut * n; child < end; child++) {
          if (below) widenBox(level.boxes, 4 * n, below.boxes, 4 * child);
          else widenBox(level.boxes, 4 * n, boxes, 4 * bySize[leaves[child]!]!);
          level.ranks[n] = Math.min(level.ranks[n]!, (below?.ranks ?? leaves)[child]!);
        }
      }
      levels.push(level);
    }
    return levels;
  }

  /** The lowest rank above `after` whose box contains that of the ring, or -1. */
  private leastRank(ring: number, after: number): number {
    const { boxes, bySize, leaves, levels } = this;
    if (levels.length > 0) {
      const found = this.leastBelow(ring, after, levels.length, 0, leaves.length);
      return found < leaves.length ? found : -1;
    }
    for (let rank = after + 1; rank < bySize.length; rank++) if (isWithin(boxes, ring, bySize[rank]!)) return rank;
    return -1;
  }

  /** The lowest rank among the nodes from `from` of a level; `best` if none is lower. */
  private leastBelow(ring: number, after: number, depth: number, from: number, best: number): number {
    const { boxes, bySize, leaves, levels } = this;
    const level = levels[depth - 1];
    const ranks = level?.ranks ?? leaves;
    const end = Math.min(ranks.length, from + nodeFanOut);
    for (let n = from; n < end; n++) {
      const rank = ranks[n]!;
      if (rank >= best) continue;
      if (!level) {
        if (rank > after && isWithin(boxes, ring, bySize[rank]!)) best = rank;
      } else if (boxCovers(level.boxes, 4 * n, boxes, 4 * ring)) {
        best = this.leastBelow(ring, after, depth - 1, nodeFanOut * n, best);
      }
    }
    return best;
  }

  /** All ranks above `after` whose boxes contain that of the ring, in order. */
  private ranksAround(ring: number, after: number): number[] {
    const { boxes, bySize, leaves, levels } = this;
    const found: number[] = [];
    if (levels.length === 0) {
      for (let rank = after + 1; rank < bySize.length; rank++)
        if (isWithin(boxes, ring, bySize[rank]!)) found.push(rank);
      return found;
    }
    const visit = (depth: number, from: number): void => {
      const level = levels[depth - 1];
      const end = Math.min((level?.ranks ?? leaves).length, from + nodeFanOut);
      for (let n = from; n < end; n++) {
        if (level) {
          if (boxCovers(level.boxes, 4 * n, boxes, 4 * ring)) visit(depth - 1, nodeFanOut * n);
        } else if (leaves[n]! > after && isWithin(boxes, ring, bySize[leaves[n]!]!)) found.push(leaves[n]!);
      }
    };
    visit(levels.length, 0);
    return found.sort((a, b) => a - b);
  }
}

function widenBox(level: Float64Array, at: number, box: Float64Array, from: number): void {
  if (box[from]! < level[at]!) level[at] = box[from]!;
  if (box[from + 1]! < level[at + 1]!) level[at + 1] = box[from + 1]!;
  if (box[from + 2]! > level[at + 2]!) level[at + 2] = box[from + 2]!;
  if (box[from + 3]! > level[at + 3]!) level[at + 3] = box[from + 3]!;
}
