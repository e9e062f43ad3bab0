import type { Batch } from "../../model/batch.js";
import { type Extent, type GeometryColumn, Kind, positionRange } from "../../model/geometry.js";
import { keepRows } from "../rows.js";
import { boxSetting, type StageSettings } from "../settings.js";
import type { Stage } from "../stage.js";

export interface BboxSettings {
  /** West, south, east, north in the coordinates of the incoming features; west > east only in degrees. */
  readonly box: Extent;
}

const isPolygonal = (kind: number): boolean => kind === Kind.Polygon || kind === Kind.MultiPolygon;
const isPoint = (kind: number): boolean => kind === Kind.Point || kind === Kind.MultiPoint;

/** Whether the segment meets the box: their envelopes overlap and the box is not all on one side of the line. */
function segmentMeets(box: Extent, ax: number, ay: number, bx: number, by: number): boolean {
  const [minX, minY, maxX, maxY] = box;
  if ((ax < minX && bx < minX) || (ax > maxX && bx > maxX)) return false;
  if ((ay < minY && by < minY) || (ay > maxY && by > maxY)) return false;
  const dx = bx - ax;
  const dy = by - ay;
  const a = dx * (minY - ay) - dy * (minX - ax);
  const b = dx * (minY - ay) - dy * (maxX - ax);
  const c = dx * (maxY - ay) - dy * (minX - ax);
  const d = dx * (maxY - ay) - dy * (maxX - ax);
  return !((a > 0 && b > 0 && c > 0 && d > 0) || (a < 0 && b < 0 && c < 0 && d < 0));
}

/** Whether a ray from (x, y) crosses the ring an odd number of times. */
function rayCrossesOdd(column: GeometryColumn, ring: number, x: number, y: number): boolean {
  const { xy, positionOffsets } = column;
  const from = positionOffsets[ring]!;
  const to = positionOffsets[ring + 1]!;
  let odd = false;
  for (let k = from, before = to - 1; k < to; before = k++) {
    const ay = xy[2 * k + 1]!;
    const by = xy[2 * before + 1]!;
    if (ay > y === by > y) continue;
    const ax = xy[2 * k]!;
    if (x < ax + ((xy[2 * before]! - ax) * (y - ay)) / (by - ay)) odd = !odd;
  }
  return odd;
}

function anySegmentMeets(column: GeometryColumn, row: number, box: Extent): boolean {
  const { xy, partOffsets, ringOffsets, positionOffsets } = column;
  for (let r = ringOffsets[partOffsets[row]!]!; r < ringOffsets[partOffsets[row + 1]!]!; r++) {
    for (let k = positionOffsets[r]!; k < positionOffsets[r + 1]! - 1; k++) {
      if (segmentMeets(box, xy[2 * k]!, xy[2 * k + 1]!, xy[2 * k + 2]!, xy[2 * k + 3]!)) return true;
    }
  }
  return false;
}

/** Whether (x, y) is in a part of the polygon and in none of that part's holes. */
function covers(column: GeometryColumn, row: number, x: number, y: number): boolean {
  for (let p = column.partOffsets[row]!; p < column.partOffsets[row + 1]!; p++) {
    let odd = false;
    for (let r = column.ringOffsets[p]!; r < column.ringOffsets[p + 1]!; r++) {
      if (rayCrossesOdd(column, r, x, y)) odd = !odd;
    }
    if (odd) return true;
  }
  return false;
}

/** Whether feature `row` intersects the box, including its edge; false without geometry. */
export function meetsBox(column: GeometryColumn, row: number, box: Extent): boolean {
  const [minX, minY, maxX, maxY] = box;
  const kind = column.kinds[row]!;
  if (kind === Kind.GeometryCollection) {
    const { members, memberOffsets } = column;
    if (!members || !memberOffsets) return false;
    for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) if (meetsBox(members, k, box)) return true;
    return false;
  }
  const [from, to] = positionRange(column, row);
  const { xy } = column;
  let west = Number.POSITIVE_INFINITY;
  let south = Number.POSITIVE_INFINITY;
  let east = Number.NEGATIVE_INFINITY;
  let north = Number.NEGATIVE_INFINITY;
  for (let k = from; k < to; k++) {
    const x = xy[2 * k]!;
    const y = xy[2 * k + 1]!;
    if (x >= minX && x <= maxX && y >= minY && y <= maxY) return true;
    if (x < west) west = x;
    if (x > east) east = x;
    if (y < south) south = y;
    if (y > north) north = y;
  }
  if (isPoint(kind) || !(west <= maxX && east >= minX && south <= maxY && north >= minY)) return false;
  // No vertex is inside: an edge passes through, or the box is wholly inside or outside.
  return anySegmentMeets(column, row, box) || (isPolygonal(kind) && covers(column, row, minX, minY));
}

/** Splits a box with west > east, which spans the antimeridian; longitudes may continue beyond ±180°. */
export function splitAtAntimeridian([west, south, east, north]: Extent): Extent[] {
  if (west <= east) return [[west, south, east, north]];
  return [
    [west, south, east + 360, north],
    [west - 360, south, east, north],
  ];
}

/**
 * Keeps the features that intersect the box, exactly, as `ogr2ogr -spat` does. If west > east, the box spans the
 * antimeridian (RFC 7946, 5.2).
 */
export function build(settings: StageSettings): Stage {
  const boxes = splitAtAntimeridian(boxSetting(settings, "box"));
  return {
    apply(batch: Batch): Batch {
      const keep = new Uint8Array(batch.length);
      for (let row = 0; row < batch.length; row++)
        if (boxes.some((box) => meetsBox(batch.geometry, row, box))) keep[row] = 1;
      return keepRows(batch, keep);
    },
  };
}
