/** Finds the features at a place of the map. */
import { type LevelGroup, type ShapeIndex, visitSquares } from "./index/shape-index.js";
import type { LayerData } from "./layer-data.js";
import { forEachRing, RingType } from "./shape-record.js";
import { turnOf } from "./tiles/build-tile.js";
import { maxSizeOf, worldBits, worldSize } from "./world.js";

export interface Place {
  /** In units of the world. */
  readonly x: number;
  readonly y: number;
  /** Distance at which lines and points count, in units. */
  readonly reach: number;
  readonly zoom: number;
}

export interface Picked {
  /** The nearest first; of areas around the place, the smallest. */
  readonly rows: readonly number[];
  /** With those that are not listed. */
  readonly count: number;
}

/** Features that are listed. */
const maxPicked = 100;

export function pick(data: LayerData, index: ShapeIndex, place: Place): Picked {
  const found: { row: number; distance: number; level: number }[] = [];
  for (const group of index.groups) {
    for (const shift of [0, -worldSize, worldSize]) {
      visitNear(index, group, { ...place, x: place.x + shift }, (row) => {
        const distance = distanceTo(data, row, { ...place, x: place.x + shift });
        if (distance <= place.reach) found.push({ row, distance, level: group.level });
      });
    }
  }
  // Points and lines before the areas that they are in, and smaller areas before larger ones.
  found.sort((a, b) => b.level - a.level || a.distance - b.distance || a.row - b.row);
  return { rows: found.slice(0, maxPicked).map(({ row }) => row), count: found.length };
}

function visitNear(index: ShapeIndex, group: LevelGroup, { x, y, reach }: Place, visit: (row: number) => void): void {
  const distance = reach + maxSizeOf(group.level) / 2 + 1;
  const rectangle = { west: x - distance, north: y - distance, east: x + distance, south: y + distance };
  if (rectangle.east < 0 || rectangle.west >= worldSize) return;
  const visitRange = (_: number, __: number, from: number, to: number) => {
    for (let i = from; i < to; i++) visit(index.rows[i]!);
  };
  visitSquares(index, group, rectangle, worldBits, visitRange, true);
}

/** In units; 0 within an area. */
function distanceTo(data: LayerData, row: number, { x, y, zoom }: Place): number {
  const record = data.record(row, zoom);
  if (record === null) return Math.hypot(data.x[row]! - x, data.y[row]! - y);
  const turn = turnOf(record, zoom, data.x[row]!);
  let nearest = Infinity;
  let crossings = 0;
  forEachRing(record, zoom, (type, words, from, count) => {
    const last = from + 2 * count;
    if (type === RingType.points || count === 1) {
      for (let k = from; k < last; k += 2)
        nearest = Math.min(nearest, Math.hypot(words[k]! - turn - x, words[k + 1]! - y));
      return;
    }
    for (let k = from + 2; k < last; k += 2) {
      const [ax, ay, bx, by] = [words[k - 2]! - turn - x, words[k - 1]! - y, words[k]! - turn - x, words[k + 1]! - y];
      nearest = Math.min(nearest, distanceToSegment(ax, ay, bx, by));
      // A ray to the east: the rings of an area are crossed an odd number of times from its inside.
      if (type !== RingType.line && ay > 0 !== by > 0 && ax + ((bx - ax) * ay) / (ay - by) > 0) crossings++;
    }
  });
  return crossings % 2 === 1 ? 0 : nearest;
}

/** Distance of the origin to a segment. */
function distanceToSegment(ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const square = dx * dx + dy * dy;
  const share = square === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / square));
  return Math.hypot(ax + share * dx, ay + share * dy);
}
