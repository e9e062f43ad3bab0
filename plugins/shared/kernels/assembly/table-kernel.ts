/**
 * Statistics of the rows of a SQLite table (file format, 1.6 and 2.1), from whole leaf pages: the types of geometries,
 * the size of the longest text, the range of integers. One instance for each table.
 */
import { ColumnKind } from "./column-kind.js";
import { contentBytes, isInteger, next, uint16, varint } from "./sqlite-record.js";
import { Temporal, temporalType } from "./temporal.js";
import { isUtf8 } from "./utf8.js";
import { flatKind } from "./wkb.js";

@unmanaged
class Column {
  measure: ColumnKind;
  /** Size of the longest text in bytes. */
  longest: u32;
  /** Values that are not null. */
  values: f64;
  least: f64;
  most: f64;
}

enum Outcome {
  pageDone = -1,
  needsDecoding = -2,
}

let columns: usize = 0;
let columnCount: u32 = 0;
let geometryColumn: u32 = 0;
let countsPoints: bool = false;
let rows: f64 = 0;
let leastId: i32 = 0;
let mostId: i32 = 0;
const kinds = memory.data(8 * 8, 8);
let corner: v128 = f64x2.splat(Infinity);
let opposite: v128 = f64x2.splat(-Infinity);

function column(index: u32): Column {
  return changetype<Column>(columns + <usize>index * offsetof<Column>());
}

/** @param points whether plain points are counted and measured; they need decoding otherwise */
export function open(count: u32, points: bool): void {
  columnCount = count;
  countsPoints = points;
  columns = heap.alloc(<usize>count * offsetof<Column>());
  memory.fill(columns, 0, <usize>count * offsetof<Column>());
}

export function setMeasure(index: u32, measure: ColumnKind): void {
  column(index).measure = measure;
  if (measure === ColumnKind.geometry) geometryColumn = index;
}

/** Memory for a page or a record. */
export function reserve(size: usize): usize {
  return heap.alloc(size);
}

/**
 * Adds the rows from `first` on of the leaf page at `page`, whose header is `head` bytes after it.
 * @returns the index of a row with overflow pages, which `addRecord` must add; or an `Outcome`
 */
export function addPage(page: usize, head: u32, usable: u32, first: u32): i32 {
  const count = uint16(page + head + 3);
  const cells = page + head + 8;
  const end = page + usable;
  const maxLocal = <i64>(usable - 35);
  for (let row = first; row < count; row++) {
    const cell = page + uint16(cells + 2 * row);
    if (cell < cells || cell + 2 > end) return Outcome.needsDecoding;
    const size = varint(cell);
    const id = varint(next);
    if (size < 0) return Outcome.needsDecoding;
    if (size > maxLocal) return row;
    const to = next + <usize>size;
    if (to > end || !add(next, to, <i32>id)) return Outcome.needsDecoding;
  }
  return Outcome.pageDone;
}

/** Adds the record `from … to` of row `id`. @returns whether it could be measured */
export function addRecord(from: usize, size: usize, id: i32): bool {
  return add(from, from + size, id);
}

function add(from: usize, to: usize, id: i32): bool {
  const headerSize = varint(from);
  let head = next;
  if (headerSize < 0 || headerSize > <i64>(to - from)) return false;
  let body = from + <usize>headerSize;
  const end = body;
  if (end < head) return false;
  let c: u32 = 0;
  for (; head < end; c++) {
    let serial = <u32>load<u8>(head++);
    if (serial >= 0x80) {
      const wide = varint(head - 1);
      head = next;
      if (wide < 0 || wide > <i64>u32.MAX_VALUE) return false;
      serial = <u32>wide;
    }
    if (serial === 10 || serial === 11) return false;
    const size: usize = serial >= 12 ? <usize>((serial - 12) >>> 1) : contentBytes(serial);
    if (size > to - body) return false;
    if (c < columnCount && !measure(column(c), body, serial, size)) return false;
    body += size;
  }
  if (head !== end || c <= geometryColumn) return false;
  rows++;
  if (id < leastId) leastId = id;
  if (id > mostId) mostId = id;
  return true;
}

/** @returns false if the value must be decoded */
function measure(column: Column, at: usize, serial: u32, size: usize): bool {
  const wanted = column.measure;
  if (wanted === ColumnKind.nothing) return true;
  if (wanted === ColumnKind.geometry) return addGeometry(at, serial, size);
  if (serial === 0) return true;
  column.values++;
  switch (wanted) {
    case ColumnKind.boolean:
      return serial === 8 || serial === 9;
    case ColumnKind.int32:
      return isInteger(serial) && (serial <= 4 || serial >= 8) && addInteger(column, at, serial);
    case ColumnKind.int64:
      return isInteger(serial) && (serial <= 5 || serial >= 8) && addInteger(column, at, serial);
    case ColumnKind.double:
      return serial === 7 || (isInteger(serial) && serial !== 6);
    default:
      return serial >= 13 && (serial & 1) === 1 && addText(column, at, size);
  }
}

function addInteger(column: Column, at: usize, serial: u32): bool {
  let value: i64 = 0;
  if (serial >= 8) value = serial - 8;
  else {
    const size = contentBytes(serial);
    value = <i64>load<i8>(at);
    for (let n: usize = 1; n < size; n++) value = (value << 8) | <i64>load<u8>(at + n);
  }
  column.least = min(column.least, <f64>value);
  column.most = max(column.most, <f64>value);
  return true;
}

function addText(column: Column, at: usize, size: usize): bool {
  if (<u32>size > column.longest) column.longest = <u32>size;
  switch (column.measure) {
    case ColumnKind.date:
      return temporalType(at, at + size) === Temporal.date;
    case ColumnKind.time:
      return temporalType(at, at + size) === Temporal.time;
    case ColumnKind.datetime:
      return temporalType(at, at + size) === Temporal.datetime;
    default:
      return isUtf8(at, at + size);
  }
}

function addKind(kind: u32): bool {
  const count = kinds + 8 * <usize>kind;
  store<f64>(count, load<f64>(count) + 1);
  return true;
}

/** Size of the blob of an XY point without an envelope, and of the blob's header (OGC 12-128r19, 2.1.3). */
const pointBytes: usize = 29;
const blobHeaderBytes: usize = 8;

function addGeometry(at: usize, serial: u32, size: usize): bool {
  if (serial === 0) return addKind(0);
  const isBlob = serial >= 12 && (serial & 1) === 0;
  if (!isBlob || size <= blobHeaderBytes || load<u16>(at) !== 0x5047 || load<u8>(at + 2) !== 0) return false;
  const flags = <u32>load<u8>(at + 3);
  const envelope = (flags >> 1) & 7;
  if (envelope > 4 || (flags & 0x20) !== 0) return false;
  if (countsPoints && size === pointBytes && envelope === 0 && addPoint(at + blobHeaderBytes)) return true;
  const start = blobHeaderBytes + (envelope === 0 ? 0 : envelope === 1 ? 32 : envelope === 4 ? 64 : 48);
  if (start >= size) return false;
  const kind = flatKind(at + start, at + size);
  // The extent of points is needed, and only decoding yields it.
  return kind > 1 && load<f64>(kinds + 8) === 0 && addKind(kind);
}

/** Adds the most common geometry, a little-endian XY point. @returns false for anything else */
function addPoint(wkb: usize): bool {
  if (load<u8>(wkb) !== 1 || load<u32>(wkb + 1) !== 1) return false;
  const position = v128.load(wkb + 5);
  const sum = f64x2.extract_lane(position, 0) + f64x2.extract_lane(position, 1);
  if (Number.isNaN(sum)) return false;
  corner = f64x2.pmin(corner, position);
  opposite = f64x2.pmax(opposite, position);
  return addKind(1);
}

export function rowCount(): f64 {
  return rows;
}
export function smallestId(): i32 {
  return leastId;
}
export function largestId(): i32 {
  return mostId;
}
/** Features of a kind, by WKB type; 0 for those without geometry. */
export function kindCount(kind: u32): f64 {
  return load<f64>(kinds + 8 * <usize>kind);
}
export function west(): f64 {
  return f64x2.extract_lane(corner, 0);
}
export function south(): f64 {
  return f64x2.extract_lane(corner, 1);
}
export function east(): f64 {
  return f64x2.extract_lane(opposite, 0);
}
export function north(): f64 {
  return f64x2.extract_lane(opposite, 1);
}
export function valueCount(index: u32): f64 {
  return column(index).values;
}
export function longestText(index: u32): u32 {
  return column(index).longest;
}
export function leastInteger(index: u32): f64 {
  return column(index).least;
}
export function mostInteger(index: u32): f64 {
  return column(index).most;
}
