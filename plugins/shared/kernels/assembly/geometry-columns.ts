/**
 * Decodes the blobs of a GeoPackage (OGC 12-128r19, 2.1.3) with little-endian WKB of two dimensions into the columns of
 * `src/model/geometry.ts`, with their boxes. Whatever has to be converted, repaired or reported is refused.
 */
import { cellBytes, placeOf, serialOf } from "./sqlite-record.js";

const pointType: u32 = 1;
const lineType: u32 = 2;
const multiPointType: u32 = 4;
const multiPolygonType: u32 = 6;

/** Most parts and rings of a batch; with more, it is refused. */
const maxParts: u32 = 1 << 16;
/** Boxes are kept for geometries of at least so many positions on average. */
const minPositionsForBoxes: u32 = 4;
const blobHeaderBytes: usize = 8;

/** Where the columns are in the block, and how many parts, rings and positions there are. */
@unmanaged
class Layout {
  kinds: u32;
  partOffsets: u32;
  ringOffsets: u32;
  positionOffsets: u32;
  xy: u32;
  /** 0 if they are not kept. */
  boxes: u32;
  parts: u32;
  rings: u32;
  positions: u32;
}

export const geometryLayout = memory.data(36, 8);

let ringOffsets: usize = 0;
let positionOffsets: usize = 0;
let boxes: usize = 0;

/** Memory that the geometries of so many rows need beside that of their positions. */
export function geometryBytes(maxRows: u32): usize {
  return 8 * (maxParts + 1) + 32 * maxRows;
}

export function openGeometries(memory: usize): void {
  ringOffsets = memory;
  positionOffsets = ringOffsets + 4 * (maxParts + 1);
  boxes = positionOffsets + 4 * (maxParts + 1);
}

let parts: u32 = 0;
let rings: u32 = 0;
let positions: u32 = 0;
/** Where the next position is written. */
let target: usize = 0;
/** The bytes of the geometry that is read, from the next one on. */
let at: usize = 0;
let end: usize = 0;
/** The box of the geometry, and 0 unless a coordinate is infinite or not a number. */
let corner: v128 = f64x2.splat(Infinity);
let opposite: v128 = f64x2.splat(-Infinity);
let oddity: v128 = f64x2.splat(0);

/**
 * Writes the geometries of `rows` cells to `start`.
 * @param cells 0 if there is no column of geometries
 * @returns the end of the columns; 0 if a geometry must be decoded in TypeScript
 */
export function addGeometries(cells: usize, rows: u32, block: usize, start: usize, checksSrs: bool, srsId: i32): usize {
  const layout = changetype<Layout>(geometryLayout);
  parts = 0;
  rings = 0;
  positions = 0;
  store<u32>(ringOffsets, 0);
  store<u32>(positionOffsets, 0);
  const partOffsets = start;
  const kinds = partOffsets + 4 * <usize>(rows + 1);
  const xy = (kinds + rows + 7) & ~(<usize>7);
  target = xy;
  store<u32>(partOffsets, 0);
  for (let row: u32 = 0; row < rows; row++) {
    corner = f64x2.splat(Infinity);
    opposite = f64x2.splat(-Infinity);
    let kind: u32 = 0;
    const cell = cells + <usize>row * cellBytes;
    if (cells !== 0 && serialOf(cell) !== 0) {
      kind = addBlob(cell, checksSrs, srsId);
      if (kind === 0) return 0;
    }
    store<u8>(kinds + row, kind);
    store<u32>(partOffsets + 4 * <usize>(row + 1), parts);
    v128.store(boxes + 32 * <usize>row, corner);
    v128.store(boxes + 32 * <usize>row + 16, opposite);
  }
  layout.partOffsets = <u32>(partOffsets - block);
  layout.kinds = <u32>(kinds - block);
  layout.xy = <u32>(xy - block);
  layout.parts = parts;
  layout.rings = rings;
  layout.positions = positions;
  let tail = target;
  layout.boxes = 0;
  if (positions >= minPositionsForBoxes * rows) {
    layout.boxes = <u32>(tail - block);
    memory.copy(tail, boxes, 32 * <usize>rows);
    tail += 32 * <usize>rows;
  }
  layout.ringOffsets = <u32>(tail - block);
  memory.copy(tail, ringOffsets, 4 * <usize>(parts + 1));
  tail += 4 * <usize>(parts + 1);
  layout.positionOffsets = <u32>(tail - block);
  memory.copy(tail, positionOffsets, 4 * <usize>(rings + 1));
  return tail + 4 * <usize>(rings + 1);
}

/** @returns the kind of the geometry; 0 if it must be decoded in TypeScript */
function addBlob(cell: usize, checksSrs: bool, srsId: i32): u32 {
  const serial = serialOf(cell);
  if (serial < 12 || (serial & 1) !== 0) return 0;
  const blob = placeOf(cell);
  const size = <usize>((serial - 12) >>> 1);
  if (size <= blobHeaderBytes || load<u16>(blob) !== 0x5047 || load<u8>(blob + 2) !== 0) return 0;
  const flags = <u32>load<u8>(blob + 3);
  const envelope = (flags >> 1) & 7;
  if (envelope > 4 || (flags & 0x20) !== 0) return 0;
  const id = load<u32>(blob + 4);
  if (checksSrs && <i32>((flags & 1) !== 0 ? id : bswap<u32>(id)) !== srsId) return 0;
  at = blob + blobHeaderBytes + (envelope === 0 ? 0 : envelope === 1 ? 32 : envelope === 4 ? 64 : 48);
  end = blob + size;
  oddity = f64x2.splat(0);
  const kind = at < end ? header() : 0;
  const isWhole = kind !== 0 && (kind < multiPointType ? addSingle(kind) : addMembers(kind)) && at === end;
  const areFinite = f64x2.extract_lane(oddity, 0) + f64x2.extract_lane(oddity, 1) === 0;
  return isWhole && areFinite ? kind : 0;
}

/** The type of a little-endian geometry of two dimensions; 0 for others. */
function header(): u32 {
  if (end < at + 5 || load<u8>(at) !== 1) return 0;
  const type = load<u32>(at + 1);
  at += 5;
  return type <= multiPolygonType ? type : 0;
}

/** A count of items of at least `least` bytes; −1 if they exceed the blob. */
function count(least: u32): i64 {
  if (end < at + 4) return -1;
  const items = load<u32>(at);
  at += 4;
  return <u64>items * least > <u64>(end - at) ? -1 : <i64>items;
}

function addSingle(kind: u32): bool {
  if (kind === pointType) return addPoint();
  if (kind === lineType) {
    const size = count(16);
    if (size <= 0) return size === 0;
    beginPart();
    return addRing(<u32>size);
  }
  const size = count(4);
  return size <= 0 ? size === 0 : addPolygon(<u32>size);
}

function addPoint(): bool {
  if (end < at + 16) return false;
  beginPart();
  return addRing(1);
}

/** A polygon of at least one ring. */
function addPolygon(size: u32): bool {
  beginPart();
  for (; size > 0; size--) {
    const positions = count(16);
    if (positions <= 0) return false;
    const last = at + 16 * <usize>(positions - 1);
    if (load<f64>(at) !== load<f64>(last) || load<f64>(at + 8) !== load<f64>(last + 8)) return false;
    if (!addRing(<u32>positions)) return false;
  }
  return true;
}

function addMembers(kind: u32): bool {
  const size = count(kind === multiPointType ? 21 : 9);
  if (size <= 0) return size === 0;
  if (kind !== multiPolygonType) beginPart();
  if (kind === multiPointType) return addPoints(<u32>size);
  for (let n: i64 = 0; n < size; n++) {
    if (header() !== kind - 3) return false;
    if (kind === multiPolygonType) {
      const rings = count(4);
      if (rings <= 0 || !addPolygon(<u32>rings)) return false;
    } else {
      const positions = count(16);
      if (positions <= 0 || !addRing(<u32>positions)) return false;
    }
  }
  return true;
}

function addPoints(size: u32): bool {
  if (rings >= maxParts || parts >= maxParts) return false;
  for (let n: u32 = 0; n < size; n++) {
    if (header() !== pointType || end < at + 16) return false;
    addPositions(1);
  }
  endRing();
  return true;
}

function beginPart(): void {
  if (parts < maxParts) parts++;
}

/** @returns false if there are too many */
function addRing(size: u32): bool {
  if (rings >= maxParts || parts >= maxParts) return false;
  addPositions(size);
  endRing();
  return true;
}

/** Ends a ring, which is the last one of its part so far. */
function endRing(): void {
  rings++;
  store<u32>(positionOffsets + 4 * <usize>rings, positions);
  store<u32>(ringOffsets + 4 * <usize>parts, rings);
}

/** Copies positions and widens the box. */
function addPositions(size: u32): void {
  let least = corner;
  let most = opposite;
  let odd = oddity;
  const last = target + 16 * <usize>size;
  for (; target < last; target += 16) {
    const position = v128.load(at);
    at += 16;
    v128.store(target, position);
    least = f64x2.pmin(least, position);
    most = f64x2.pmax(most, position);
    // A number minus itself is 0 unless it is NaN or infinite.
    odd = f64x2.add(odd, f64x2.sub(position, position));
  }
  corner = least;
  opposite = most;
  oddity = odd;
  positions += size;
}
