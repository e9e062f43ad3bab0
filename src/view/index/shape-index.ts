/**
 * The features of a layer by place: in groups of one level (see `levelOf`), and within a group along the Z-order curve of
 * their centers (Morton 1966), so that every square of the quadtree is a range, and its count is known without looking
 * at its features.
 */
import type { FeatureArrays } from "../layer-data.js";
import { noLevel, worldBits } from "../world.js";
import { radixSort } from "./radix-sort.js";

/** Half the bits of a key: the squares of the upper levels of the quadtree. */
const halfBits = worldBits / 2;

export interface LevelGroup {
  readonly level: number;
  /** A range of the index. */
  readonly from: number;
  readonly to: number;
}

/** A rectangle in units of the world; the edges belong to it. */
export interface Rectangle {
  readonly west: number;
  readonly north: number;
  readonly east: number;
  readonly south: number;
}

export interface ShapeIndex {
  readonly rows: Uint32Array;
  /** Upper and lower half of the keys, in the order of `rows`. */
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly groups: readonly LevelGroup[];
}

/** Spreads 15 bits: between each and the next one is a zero. */
function spread(bits: number): number {
  let x = bits & 0x7fff;
  x = (x | (x << 8)) & 0x00ff00ff;
  x = (x | (x << 4)) & 0x0f0f0f0f;
  x = (x | (x << 2)) & 0x33333333;
  return (x | (x << 1)) & 0x55555555;
}

const interleave = (x: number, y: number): number => (spread(x) | (spread(y) << 1)) >>> 0;

/** Features without a geometry are left out. */
export function buildIndex({ x, y, levels }: FeatureArrays): ShapeIndex {
  const count = x.length;
  const high = new Uint32Array(count);
  const low = new Uint32Array(count);
  const located = new Uint32Array(count);
  let used = 0;
  for (let row = 0; row < count; row++) {
    if (levels[row] === noLevel) continue;
    high[row] = interleave(x[row]! >>> halfBits, y[row]! >>> halfBits);
    low[row] = interleave(x[row]!, y[row]!);
    located[used++] = row;
  }
  const byPlace = radixSort(located.subarray(0, used), [low, high]);
  const { rows, groups } = groupByLevel(byPlace, levels);
  return { rows, groups, high: rows.map((row) => high[row]!), low: rows.map((row) => low[row]!) };
}

function groupByLevel(sorted: Uint32Array, levels: Uint8Array): Pick<ShapeIndex, "rows" | "groups"> {
  const ends = new Uint32Array(256);
  for (const row of sorted) ends[levels[row]!]!++;
  const groups: LevelGroup[] = [];
  let sum = 0;
  for (let level = 0; level < 256; level++) {
    const count = ends[level]!;
    ends[level] = sum;
    if (count > 0) groups.push({ level, from: sum, to: sum + count });
    sum += count;
  }
  if (groups.length < 2) return { rows: sorted, groups };
  const rows = new Uint32Array(sorted.length);
  for (const row of sorted) rows[ends[levels[row]!]!++] = row;
  return { rows, groups };
}

/** The index of those features whose bit is set. */
export function filterIndex({ rows, high, low, groups }: ShapeIndex, bits: Uint8Array, count: number): ShapeIndex {
  const kept = { rows: new Uint32Array(count), high: new Uint32Array(count), low: new Uint32Array(count) };
  const keptGroups: LevelGroup[] = [];
  let used = 0;
  for (const { level, from, to } of groups) {
    const start = used;
    for (let i = from; i < to; i++) {
      if (bits[rows[i]!] === 0) continue;
      kept.rows[used] = rows[i]!;
      kept.high[used] = high[i]!;
      kept.low[used] = low[i]!;
      used++;
    }
    if (used > start) keptGroups.push({ level, from: start, to: used });
  }
  return {
    rows: kept.rows.subarray(0, used),
    high: kept.high.subarray(0, used),
    low: kept.low.subarray(0, used),
    groups: keptGroups,
  };
}

/**
 * Called for the squares of a depth that have features, in the order of the curve, with the range of their features.
 * @param x, y number of the square from the north-west
 */
export type VisitSquare = (x: number, y: number, from: number, to: number) => void;

/**
 * Visits the squares of the quadtree that meet a rectangle.
 * @param depth of the squares: there are 2^depth in each direction
 * @param whole whether squares of lesser depth within the rectangle are visited as a whole
 */
export function visitSquares(
  index: Pick<ShapeIndex, "high" | "low">,
  group: LevelGroup,
  rectangle: Rectangle,
  depth: number,
  visit: VisitSquare,
  whole = false,
): void {
  const { west, north, east, south } = rectangle;
  const { high, low } = index;

  /** The first index of the range whose key has at least this quarter at a depth. */
  const findQuarter = (from: number, to: number, at: number, quarter: number): number => {
    const keys = at <= halfBits ? high : low;
    const shift = 2 * (at <= halfBits ? halfBits - at : 2 * halfBits - at);
    let [first, last] = [from, to];
    while (first < last) {
      const middle = (first + last) >>> 1;
      if (((keys[middle]! >>> shift) & 3) < quarter) first = middle + 1;
      else last = middle;
    }
    return first;
  };

  const descend = (x: number, y: number, at: number, from: number, to: number): void => {
    if (from === to) return;
    const size = 2 ** (worldBits - at);
    const [left, top] = [x * size, y * size];
    if (left > east || left + size <= west || top > south || top + size <= north) return;
    const isInside = left >= west && left + size - 1 <= east && top >= north && top + size - 1 <= south;
    if (at === depth || (whole && isInside)) {
      visit(x, y, from, to);
      return;
    }
    const second = findQuarter(from, to, at + 1, 1);
    const third = findQuarter(second, to, at + 1, 2);
    const fourth = findQuarter(third, to, at + 1, 3);
    descend(2 * x, 2 * y, at + 1, from, second);
    descend(2 * x + 1, 2 * y, at + 1, second, third);
    descend(2 * x, 2 * y + 1, at + 1, third, fourth);
    descend(2 * x + 1, 2 * y + 1, at + 1, fourth, to);
  };
  descend(0, 0, 0, group.from, group.to);
}
