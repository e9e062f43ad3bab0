/** Builds the tiles of a layer: shapes of the features that are large enough at the zoom, and dots for the others. */
import { type LevelGroup, type Rectangle, type ShapeIndex, visitSquares } from "../index/shape-index.js";
import type { LayerData } from "../layer-data.js";
import { forEachRing, RingType } from "../shape-record.js";
import { maxSizeOf, worldBits, worldSize } from "../world.js";
import { clipLine, clipRing, type Positions } from "./clip.js";
import { cellBits, notInTile, type TileContent, tileExtent } from "./tile-content.js";

const cells = 1 << cellBits;

/** Cells beyond each side whose dots reach into the tile: 8 pixels. */
const marginCells = 4;

/** Units of a tile that lines and rings reach beyond its sides: 32 pixels. */
const margin = 256;

/** Positions of shapes in a tile; the largest features come first. */
const maxPositions = 400_000;

export interface TileAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** @param classes the class of each row, for colors; null: all have class 0 */
export function buildTile(
  data: LayerData,
  index: ShapeIndex,
  tile: TileAddress,
  classes: Uint8Array | null,
): TileContent {
  const size = 2 ** (worldBits - tile.z);
  const square = { west: tile.x * size, north: tile.y * size, size };
  const dots = new DotCollector(square, data, classes);
  const shapes = new ShapeCollector(square, tile.z, data, classes);
  for (const group of index.groups) {
    if (group.level > tile.z) dots.add(index, group, Math.min(worldBits, tile.z + cellBits));
    else shapes.add(index, group);
  }
  const drawn = dots.finish();
  return {
    dotted: drawn.dotted,
    omitted: shapes.omitted,
    dots: drawn.dots,
    shapes: shapes.finish(),
  };
}

interface Square {
  readonly west: number;
  readonly north: number;
  readonly size: number;
}

class DotCollector {
  private readonly rows: number[] = [];
  private readonly counts: number[] = [];
  /** By cell, one more than the index of its dot. */
  private readonly dotOf = new Uint32Array((cells + 2 * marginCells) ** 2);
  private dotted = 0;

  constructor(
    private readonly square: Square,
    private readonly data: LayerData,
    private readonly classes: Uint8Array | null,
  ) {}

  add(index: ShapeIndex, group: LevelGroup, depth: number): void {
    const { west, north, size } = this.square;
    const cell = 2 ** (worldBits - depth);
    const [firstX, firstY] = [west / cell, north / cell];
    const reach = marginCells * cell;
    const rectangle = {
      west: west - reach,
      north: north - reach,
      east: west + size + reach - 1,
      south: north + size + reach - 1,
    };
    visitSquares(index, group, rectangle, depth, (x, y, from, to) => {
      const [column, row] = [x - firstX, y - firstY];
      if (column >= 0 && row >= 0 && column < cells && row < cells) this.dotted += to - from;
      const at = (row + marginCells) * (cells + 2 * marginCells) + column + marginCells;
      const known = this.dotOf[at]!;
      if (known > 0) this.counts[known - 1]! += to - from;
      else {
        this.rows.push(index.rows[from]!);
        this.dotOf[at] = this.counts.push(to - from);
      }
    });
  }

  finish(): Pick<TileContent, "dots" | "dotted"> {
    const { rows, counts, data, classes, dotted } = this;
    const { west, north, size } = this.square;
    const xy = new Int16Array(2 * rows.length);
    rows.forEach((row, d) => {
      xy[2 * d] = Math.round(((data.x[row]! - west) / size) * tileExtent);
      xy[2 * d + 1] = Math.round(((data.y[row]! - north) / size) * tileExtent);
    });
    return {
      dotted,
      dots: {
        xy,
        classes: Uint8Array.from(rows, (row) => classes?.[row] ?? 0),
        weights: Uint8Array.from(counts, (count) => Math.min(255, Math.round(16 * Math.log2(count)))),
      },
    };
  }
}

class ShapeCollector {
  omitted = 0;
  private readonly rows: number[] = [];
  private readonly classOf: number[] = [];
  private readonly ringCounts: number[] = [];
  private readonly ringTypes: number[] = [];
  private readonly ringLengths: number[] = [];
  private xy = new Int16Array(4096);
  private used = 0;

  constructor(
    private readonly square: Square,
    private readonly zoom: number,
    private readonly data: LayerData,
    private readonly classes: Uint8Array | null,
  ) {}

  /** The same place is also a world to the west and one to the east, as shapes may cross the antimeridian. */
  add(index: ShapeIndex, group: LevelGroup): void {
    const { west, north, size } = this.square;
    const reach = maxSizeOf(group.level) / 2 + (margin / tileExtent) * size;
    for (const shift of [0, -worldSize, worldSize]) {
      const rectangle: Rectangle = {
        west: west + shift - reach,
        north: north - reach,
        east: west + shift + size + reach,
        south: north + size + reach,
      };
      if (rectangle.east < 0 || rectangle.west >= worldSize) continue;
      visitSquares(
        index,
        group,
        rectangle,
        worldBits,
        (_, __, from, to) => {
          for (let i = from; i < to; i++) this.addFeature(index.rows[i]!, shift);
        },
        true,
      );
    }
  }

  private addFeature(row: number, shift: number): void {
    const record = this.data.record(row, this.zoom);
    if (record === null) return;
    if (this.used > 2 * maxPositions) {
      this.omitted++;
      return;
    }
    const before = this.ringTypes.length;
    // A shape beyond 180 degrees is a world away from the center by which it was found.
    const turn = turnOf(record, this.zoom, this.data.x[row]!);
    let isInTile = false;
    let hasShell = false;
    forEachRing(record, this.zoom, (type, words, from, count) => {
      const ring = this.toTile(words, from, count, shift + turn);
      const parts = clipPart(ring, type, hasShell);
      if (type === RingType.shell) hasShell = parts.length > 0;
      for (const part of parts) {
        isInTile ||= meetsTile(part);
        this.addRing(type, part);
      }
    });
    const rings = this.ringTypes.length - before;
    if (rings === 0) return;
    this.ringCounts.push(rings);
    this.classOf.push(this.classes?.[row] ?? 0);
    this.rows.push(isInTile ? row : notInTile);
  }

  private toTile(words: Int32Array, from: number, count: number, shift: number): Positions {
    const { west, north, size } = this.square;
    const scale = tileExtent / size;
    const positions: Positions = [];
    let [lastX, lastY] = [Number.NaN, Number.NaN];
    for (let k = from; k < from + 2 * count; k += 2) {
      const x = (words[k]! - west - shift) * scale;
      const y = (words[k + 1]! - north) * scale;
      // Closer than a quarter of a pixel at this zoom.
      if (Math.abs(x - lastX) + Math.abs(y - lastY) < 2 && k < from + 2 * count - 2) continue;
      positions.push(x, y);
      [lastX, lastY] = [x, y];
    }
    return positions;
  }

  private addRing(type: number, positions: Positions): void {
    if (this.used + positions.length > this.xy.length) {
      const grown = new Int16Array(Math.max(this.used + positions.length, 2 * this.xy.length));
      grown.set(this.xy);
      this.xy = grown;
    }
    for (const value of positions) this.xy[this.used++] = Math.round(value);
    this.ringTypes.push(type);
    this.ringLengths.push(positions.length / 2);
  }

  finish(): TileContent["shapes"] {
    return {
      rows: Uint32Array.from(this.rows),
      classes: Uint8Array.from(this.classOf),
      ringCounts: Uint32Array.from(this.ringCounts),
      ringTypes: Uint8Array.from(this.ringTypes),
      ringLengths: Uint32Array.from(this.ringLengths),
      xy: this.xy.subarray(0, this.used),
    };
  }
}

/** The worlds between the center of the box of a record and the place of the center in the square, in units. */
export function turnOf(record: Int32Array, zoom: number, center: number): number {
  let [west, east] = [Infinity, -Infinity];
  forEachRing(record, zoom, (_, words, from, count) => {
    for (let k = from; k < from + 2 * count; k += 2) {
      west = Math.min(west, words[k]!);
      east = Math.max(east, words[k]!);
    }
  });
  return Math.round(((west + east) / 2 - center) / worldSize) * worldSize;
}

/** Whether the box of positions meets the tile. */
function meetsTile(positions: Positions): boolean {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < positions.length; at++) {
    const value = positions[at]!;
    box[at % 2] = Math.min(box[at % 2]!, value);
    box[(at % 2) + 2] = Math.max(box[(at % 2) + 2]!, value);
  }
  return box[0]! < tileExtent && box[1]! < tileExtent && box[2]! >= 0 && box[3]! >= 0;
}

const [least, most] = [-margin, tileExtent + margin];

function clipPart(ring: Positions, type: number, hasShell: boolean): Positions[] {
  switch (type) {
    case RingType.points:
      return clipPoints(ring);
    case RingType.line:
      return clipLine(ring, least, most);
    default: {
      if (type === RingType.hole && !hasShell) return [];
      const clipped = clipRing(ring, least, most);
      return clipped.length >= 6 ? [clipped] : [];
    }
  }
}

function clipPoints(positions: Positions): Positions[] {
  const inside: Positions = [];
  for (let at = 0; at < positions.length; at += 2) {
    const [x, y] = [positions[at]!, positions[at + 1]!];
    if (x >= least && x <= most && y >= least && y <= most) inside.push(x, y);
  }
  return inside.length > 0 ? [inside] : [];
}
