/**
 * Packs the geometries of a batch for the map. A feature has a box center and a level; features that are more than one
 * position also have a record with their rings (see shape-record.ts), with simplified versions if they are long.
 */
import { type GeometryColumn, Kind } from "../../model/geometry.js";
import { fullZoom, RingType, ringTypeFactor } from "../shape-record.js";
import { dotLevel, levelOf, noLevel, toWorldX, toWorldY, unitsPerPixel, worldSize, wrapX } from "../world.js";
import { markKept } from "./simplify.js";

export interface PackedShapes {
  /** Center of the box of each feature, in units of the world. */
  readonly x: Uint32Array<ArrayBuffer>;
  readonly y: Uint32Array<ArrayBuffer>;
  /** See `levelOf`; `noLevel` without a geometry. */
  readonly levels: Uint8Array<ArrayBuffer>;
  readonly kinds: Uint8Array<ArrayBuffer>;
  /** Start of each record in words, one more than features; empty if all features are points. */
  readonly starts: Uint32Array<ArrayBuffer>;
  readonly words: Int32Array<ArrayBuffer>;
}

/** Zooms of simplified versions, and the least number of positions that are simplified. */
const versionZooms = [2, 5, 8, 11, 14] as const;
const minSimplifiedPositions = 64;
interface Ring {
  readonly type: number;
  readonly xy: Int32Array;
}

export function packShapes(column: GeometryColumn): PackedShapes {
  const { length } = column;
  const x = new Uint32Array(length);
  const y = new Uint32Array(length);
  const levels = new Uint8Array(length).fill(noLevel);
  const isPoints = column.kinds.subarray(0, length).every((kind) => kind === Kind.none || kind === Kind.Point);
  const starts = new Uint32Array(isPoints ? 0 : length + 1);
  const records: Int32Array[] = [];
  let size = 0;
  for (let i = 0; i < length; i++) {
    if (column.kinds[i] === Kind.Point) packPoint(column, i, x, y, levels);
    else {
      const rings = ringsOf(column, i);
      const box = boxOf(rings);
      if (box) {
        x[i] = Math.min(worldSize - 1, Math.floor(wrapX((box[0] + box[2]) / 2)));
        y[i] = Math.floor((box[1] + box[3]) / 2);
        levels[i] = levelOf(Math.max(box[2] - box[0], box[3] - box[1]));
        const record = packRecord(rings);
        records.push(record);
        size += record.length;
      }
    }
    if (!isPoints) starts[i + 1] = size;
  }
  const words = new Int32Array(size);
  let at = 0;
  for (const record of records) {
    words.set(record, at);
    at += record.length;
  }
  return { x, y, levels, kinds: column.kinds.slice(0, length), starts, words };
}

function packPoint(column: GeometryColumn, i: number, x: Uint32Array, y: Uint32Array, levels: Uint8Array): void {
  const part = column.partOffsets[i]!;
  if (part === column.partOffsets[i + 1]) return;
  const k = column.positionOffsets[column.ringOffsets[part]!]!;
  const [longitude, latitude] = [column.xy[2 * k]!, column.xy[2 * k + 1]!];
  if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return;
  x[i] = wrapX(toWorldX(longitude));
  y[i] = toWorldY(latitude);
  levels[i] = dotLevel;
}

function ringsOf(column: GeometryColumn, i: number): Ring[] {
  const kind = column.kinds[i]!;
  if (kind === Kind.GeometryCollection) {
    const { members, memberOffsets } = column;
    const rings: Ring[] = [];
    if (members && memberOffsets)
      for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) rings.push(...ringsOf(members, k));
    return rings;
  }
  const isArea = kind === Kind.Polygon || kind === Kind.MultiPolygon;
  const isPoint = kind === Kind.Point || kind === Kind.MultiPoint;
  const rings: Ring[] = [];
  for (let p = column.partOffsets[i]!; p < column.partOffsets[i + 1]!; p++) {
    const first = column.ringOffsets[p]!;
    for (let r = first; r < column.ringOffsets[p + 1]!; r++) {
      const xy = positionsOf(column, r);
      const type = isPoint ? RingType.points : !isArea ? RingType.line : r === first ? RingType.shell : RingType.hole;
      if (xy.length > 0) rings.push({ type, xy });
    }
  }
  return rings;
}

/** Positions of a ring in units of the world, without those that are not finite and repeated ones. */
function positionsOf({ positionOffsets, xy }: GeometryColumn, r: number): Int32Array {
  const [from, to] = [positionOffsets[r]!, positionOffsets[r + 1]!];
  const found = new Int32Array(2 * (to - from));
  let count = 0;
  for (let k = from; k < to; k++) {
    const [longitude, latitude] = [xy[2 * k]!, xy[2 * k + 1]!];
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) continue;
    const [x, y] = [toWorldX(longitude), toWorldY(latitude)];
    if (count > 0 && found[2 * count - 2] === x && found[2 * count - 1] === y) continue;
    found[2 * count] = x;
    found[2 * count + 1] = y;
    count++;
  }
  return found.subarray(0, 2 * count);
}

type Box = [west: number, north: number, east: number, south: number];

function boxOf(rings: readonly Ring[]): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { xy } of rings) {
    for (let at = 0; at < xy.length; at += 2) {
      box[0] = Math.min(box[0], xy[at]!);
      box[1] = Math.min(box[1], xy[at + 1]!);
      box[2] = Math.max(box[2], xy[at]!);
      box[3] = Math.max(box[3], xy[at + 1]!);
    }
  }
  return box[0] <= box[2] ? box : null;
}

const positionCount = (rings: readonly Ring[]): number => rings.reduce((sum, { xy }) => sum + xy.length / 2, 0);

function packRecord(full: readonly Ring[]): Int32Array {
  const versions: { readonly zoom: number; readonly rings: readonly Ring[] }[] = [{ zoom: fullZoom, rings: full }];
  for (const zoom of [...versionZooms].reverse()) {
    const finer = versions[0]!.rings;
    const positions = positionCount(finer);
    if (positions < minSimplifiedPositions) break;
    const rings = simplifyRings(finer, unitsPerPixel(zoom) / 2);
    if (positionCount(rings) <= 0.6 * positions) versions.unshift({ zoom, rings });
  }
  const sizes = versions.map(({ rings }) => 1 + rings.length + 2 * positionCount(rings));
  const record = new Int32Array(1 + 3 * versions.length + sizes.reduce((sum, size) => sum + size, 0));
  record[0] = versions.length;
  let at = 1 + 3 * versions.length;
  versions.forEach(({ zoom, rings }, v) => {
    record.set([zoom, at, sizes[v]!], 1 + 3 * v);
    record[at++] = rings.length;
    for (const { type, xy } of rings) record[at++] = type * ringTypeFactor + xy.length / 2;
    for (const { xy } of rings) {
      record.set(xy, at);
      at += xy.length;
    }
  });
  return record;
}

/** Rings shorter than the tolerance are left out, unless all are. */
function simplifyRings(rings: readonly Ring[], tolerance: number): Ring[] {
  const isVisible = ({ xy }: Ring): boolean => {
    const box = boxOf([{ type: 0, xy }])!;
    return Math.max(box[2] - box[0], box[3] - box[1]) > 2 * tolerance;
  };
  const found: Ring[] = [];
  let keepsHoles = false;
  for (const ring of rings) {
    if (ring.type === RingType.points) {
      found.push(ring);
      continue;
    }
    const visible = isVisible(ring);
    if (ring.type === RingType.shell) keepsHoles = visible;
    if (visible && (ring.type !== RingType.hole || keepsHoles)) found.push(simplifyRing(ring, tolerance));
  }
  return found.length > 0 ? found : rings.filter(({ type }) => type !== RingType.hole).slice(0, 1);
}

function simplifyRing({ type, xy }: Ring, tolerance: number): Ring {
  const count = xy.length / 2;
  const keep = new Uint8Array(count);
  if (type === RingType.line) markKept(xy, 0, count, tolerance, keep);
  else {
    // Both ends of a ring are the same position: it is divided where it is farthest from them.
    const middle = farthestFromStart(xy);
    markKept(xy, 0, middle + 1, tolerance, keep);
    markKept(xy, middle, count, tolerance, keep);
  }
  let kept = 0;
  for (let k = 0; k < count; k++) kept += keep[k]!;
  const simple = new Int32Array(2 * kept);
  for (let k = 0, at = 0; k < count; k++) {
    if (keep[k] === 0) continue;
    simple[at++] = xy[2 * k]!;
    simple[at++] = xy[2 * k + 1]!;
  }
  return { type, xy: simple };
}

function farthestFromStart(xy: Int32Array): number {
  let [most, found] = [-1, 0];
  for (let k = 0; k < xy.length / 2; k++) {
    const distance = (xy[2 * k]! - xy[0]!) ** 2 + (xy[2 * k + 1]! - xy[1]!) ** 2;
    if (distance > most) [most, found] = [distance, k];
  }
  return found;
}
