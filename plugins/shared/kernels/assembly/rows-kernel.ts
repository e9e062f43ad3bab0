/**
 * Decodes the rows of a SQLite table (file format, 1.6 and 2.1) into the columns of a batch. Records are collected with
 * `addPage` and `addRecord`; `finish` then writes column after column into one block of memory, the layout of which is
 * that of `src/model/column.ts` and `src/model/geometry.ts`. A batch with a value that has to be converted, repaired or
 * reported is refused as a whole: its records are still there for the functions in TypeScript. One table at a time.
 */
import { ColumnKind } from "./column-kind.js";
import { addGeometries, geometryBytes, geometryLayout, openGeometries } from "./geometry-columns.js";
import {
  cellBytes,
  contentBytes,
  isInteger,
  next,
  placeOf,
  serialOf,
  setCell,
  uint16,
  varint,
} from "./sqlite-record.js";
import { Temporal, temporalType } from "./temporal.js";
import { isUtf8 } from "./utf8.js";

const maxRows: u32 = 1024;
/** A batch is full with so many bytes of records; a longer record than the second is left to TypeScript. */
const maxBytes: u32 = 1 << 20;
const maxRecordBytes: u32 = 1 << 18;
/** Room after records, which may be read beyond a damaged one. */
const slackBytes: u32 = 64;

/** Where a column is in the block: presence, values or offsets of bytes, bytes and their end. */
@unmanaged
class Place {
  presence: u32;
  values: u32;
  bytes: u32;
  end: u32;
}

let columnCount: u32 = 0;
let hasNarrowIds: bool = false;
let geometryColumn: i32 = -1;
let srsId: i32 = 0;
let checksSrs: bool = false;
let roles: usize = 0;
let places: usize = 0;
let cells: usize = 0;
let ids: usize = 0;
let starts: usize = 0;
let page: usize = 0;
let records: usize = 0;
let block: usize = 0;

let rows: u32 = 0;
let used: u32 = 0;
let isDecodable: bool = true;

/** Of the last call of `addPage`. */
let takenBytes: u32 = 0;
let inOrder: bool = true;
let lastId: i64 = 0;

/** The end of the memory that is used. */
let top: usize = 0;

function allocate(size: usize): usize {
  const at = align(top);
  top = at + size;
  const pages = <i32>((top + 0xffff) >>> 16) - memory.size();
  if (pages > 0) memory.grow(pages);
  return at;
}

/**
 * Prepares for a table, in the memory of the one before.
 * @param usable bytes of a page
 * @param narrowIds whether ids have 32 bits in the batches, else 64
 */
export function open(count: u32, usable: u32, narrowIds: bool): void {
  columnCount = count;
  hasNarrowIds = narrowIds;
  geometryColumn = -1;
  checksSrs = false;
  top = __heap_base;
  roles = allocate(count);
  memory.fill(roles, 0, count);
  // The ids are a column, too.
  places = allocate(<usize>(count + 1) * offsetof<Place>());
  cells = allocate(<usize>count * maxRows * cellBytes);
  ids = allocate(8 * maxRows);
  starts = allocate(4 * (maxRows + 1));
  store<u32>(starts, 0);
  page = allocate(usable + slackBytes);
  records = allocate(maxBytes + maxRecordBytes + slackBytes);
  openGeometries(allocate(geometryBytes(maxRows)));
  // Numbers of eight bytes, presence and offsets of each column, and what is as long as in the records.
  const columnBytes = 16 * maxRows + 64;
  block = allocate(<usize>(count + 4) * columnBytes + 2 * (maxBytes + maxRecordBytes) + geometryBytes(maxRows));
  reset();
}

export function setRole(index: u32, role: ColumnKind): void {
  store<u8>(roles + index, role);
  if (role === ColumnKind.geometry) geometryColumn = index;
}

/** The srs_id that all geometries have to have. */
export function setSrs(id: i32): void {
  srsId = id;
  checksSrs = true;
}

export function pageOffset(): usize {
  return page;
}
/** Where a record is put before `addRecord`; records of the batch are before it. */
export function recordOffset(): usize {
  return records + used;
}
export function recordsOffset(): usize {
  return records;
}
/** The ends of the records, from `recordsOffset`, after a 0. */
export function startsOffset(): usize {
  return starts;
}
export function idsOffset(): usize {
  return ids;
}
export function placesOffset(): usize {
  return places;
}
export function geometryOffset(): usize {
  return geometryLayout;
}
export function blockOffset(): usize {
  return block;
}
export function rowCount(): u32 {
  return rows;
}
export function isFull(): bool {
  return rows >= maxRows || used >= maxBytes;
}

/** After `addPage`: the bytes that the cells take, whether their ids ascend, and the last id. */
export function pageCellBytes(): u32 {
  return takenBytes;
}
export function isPageInOrder(): bool {
  return inOrder;
}
export function lastIdHigh(): i32 {
  return <i32>(lastId >> 32);
}
export function lastIdLow(): i32 {
  return <i32>lastId;
}

/**
 * Adds rows of the leaf page at `pageOffset`, whose header is `head` bytes after it, from `first` on: until the batch is
 * full, or up to a row that is damaged or has overflow pages.
 * @param hasPrevious whether the row before `first` has the id `high`, `low`
 * @returns the index of the row after the last one
 */
export function addPage(head: u32, usable: u32, first: u32, hasPrevious: bool, high: i32, low: i32): u32 {
  const count = uint16(page + head + 3);
  const cellPointers = page + head + 8;
  const end = page + usable;
  const maxLocal = <i64>(usable - 35);
  let previous = hasPrevious ? ((<i64>high) << 32) | <i64>(<u32>low) : i64.MIN_VALUE;
  takenBytes = 0;
  inOrder = true;
  let row = first;
  for (; row < count && !isFull(); row++) {
    const cell = page + uint16(cellPointers + 2 * row);
    if (cell < cellPointers || cell + 2 > end) break;
    const size = varint(cell);
    const id = varint(next);
    const from = next;
    if (size < 0 || size > maxLocal || from + <usize>size > end) break;
    memory.copy(records + used, from, <usize>size);
    if (!append(<u32>size, id)) break;
    if (id <= previous && (hasPrevious || row > first)) inOrder = false;
    previous = id;
    takenBytes += max(4, <u32>(from + <usize>size - cell));
  }
  lastId = previous;
  return row;
}

/** Whether a record of this size can be put at `recordOffset`. */
export function hasRoom(size: u32): bool {
  return size <= maxRecordBytes;
}

/** Adds the record at `recordOffset`. @returns false if it is malformed */
export function addRecord(size: u32, high: i32, low: i32): bool {
  return append(size, ((<i64>high) << 32) | <i64>(<u32>low));
}

function append(size: u32, id: i64): bool {
  const from = records + used;
  const to = from + size;
  const headerSize = varint(from);
  let head = next;
  if (headerSize < 0 || headerSize > <i64>size) return false;
  let body = from + <usize>headerSize;
  const end = body;
  if (end < head) return false;
  let cell = cells + <usize>rows * cellBytes;
  let c: u32 = 0;
  for (; head < end; c++) {
    let serial = <u32>load<u8>(head++);
    if (serial >= 0x80) {
      const wide = varint(head - 1);
      head = next;
      if (wide < 0 || wide > <i64>u32.MAX_VALUE) return false;
      serial = <u32>wide;
    } else if (serial === 10 || serial === 11) return false;
    const bytes: usize = serial >= 12 ? <usize>((serial - 12) >>> 1) : contentBytes(serial);
    if (bytes > to - body) return false;
    if (c < columnCount) {
      setCell(cell, body, serial);
      cell += maxRows * cellBytes;
    }
    body += bytes;
  }
  if (head !== end) return false;
  // Missing columns have the default of their declaration.
  if (c < columnCount) isDecodable = false;
  store<i64>(ids + 8 * <usize>rows, id);
  used += size;
  rows++;
  store<u32>(starts + 4 * <usize>rows, used);
  return true;
}

function readInteger(at: usize, serial: u32): i64 {
  switch (serial) {
    case 1:
      return <i64>load<i8>(at);
    case 2:
      return <i64>(<i16>bswap<u16>(load<u16>(at)));
    case 3:
      return ((<i64>load<i8>(at)) << 16) | <i64>uint16(at + 1);
    case 4:
      return <i64>(<i32>bswap<u32>(load<u32>(at)));
    case 5:
      return ((<i64>(<i16>bswap<u16>(load<u16>(at)))) << 32) | <i64>bswap<u32>(load<u32>(at + 2));
    case 6:
      return bswap<i64>(load<i64>(at));
    default:
      return <i64>serial - 8;
  }
}

/** The next multiple of eight. */
function align(at: usize): usize {
  return (at + 7) & ~(<usize>7);
}

/** Begins the next batch. */
export function reset(): void {
  rows = 0;
  used = 0;
  isDecodable = true;
}

/**
 * Writes the columns of all records to the block: the fields, the ids, the geometries.
 * @returns the size of the block; 0 if a value must be decoded in TypeScript
 */
export function finish(): u32 {
  if (!isDecodable) return 0;
  let at = block;
  for (let c: u32 = 0; c < columnCount; c++) {
    const role = <ColumnKind>load<u8>(roles + c);
    if (role === ColumnKind.nothing || role === ColumnKind.geometry) continue;
    at = addColumn(c, role, align(at));
    if (at === 0) return 0;
  }
  at = addIds(align(at));
  const geometries = geometryColumn < 0 ? 0 : cells + <usize>geometryColumn * maxRows * cellBytes;
  at = addGeometries(geometries, rows, block, align(at), checksSrs, srsId);
  return at === 0 ? 0 : <u32>(at - block);
}

function addIds(at: usize): usize {
  const place = changetype<Place>(places + <usize>columnCount * offsetof<Place>());
  place.values = <u32>(at - block);
  if (hasNarrowIds)
    for (let row: usize = 0; row < <usize>rows; row++) store<u32>(at + 4 * row, load<u32>(ids + 8 * row));
  else memory.copy(at, ids, 8 * <usize>rows);
  const presence = at + (hasNarrowIds ? 4 : 8) * <usize>rows;
  place.presence = <u32>(presence - block);
  memory.fill(presence, 1, rows);
  return presence + rows;
}

/** @returns the end of the column; 0 if a value must be decoded in TypeScript */
function addColumn(c: u32, role: ColumnKind, at: usize): usize {
  const place = changetype<Place>(places + <usize>c * offsetof<Place>());
  const from = cells + <usize>c * maxRows * cellBytes;
  place.values = <u32>(at - block);
  if (role >= ColumnKind.text) return addBytes(place, from, role, at);
  const size: usize = role === ColumnKind.boolean ? 1 : role === ColumnKind.int32 ? 4 : 8;
  const presence = at + size * <usize>rows;
  place.presence = <u32>(presence - block);
  for (let row: u32 = 0; row < rows; row++) {
    const cell = from + <usize>row * cellBytes;
    const serial = serialOf(cell);
    store<u8>(presence + row, serial !== 0 ? 1 : 0);
    if (!addNumber(at, placeOf(cell), serial, role)) return 0;
    at += size;
  }
  return presence + rows;
}

function addNumber(at: usize, from: usize, serial: u32, role: ColumnKind): bool {
  if (role === ColumnKind.double) {
    if (serial === 7) store<u64>(at, bswap<u64>(load<u64>(from)));
    else if (serial === 0) store<f64>(at, 0);
    else if (isInteger(serial) && serial !== 6) store<f64>(at, <f64>readInteger(from, serial));
    else return false;
    return true;
  }
  if (serial !== 0 && !isInteger(serial)) return false;
  const value: i64 = serial === 0 ? 0 : readInteger(from, serial);
  if (role === ColumnKind.int64) store<i64>(at, value);
  else if (role === ColumnKind.int32) {
    if (<i64>(<i32>value) !== value) return false;
    store<i32>(at, <i32>value);
  } else {
    if (value !== 0 && value !== 1) return false;
    store<u8>(at, <u8>value);
  }
  return true;
}

function addBytes(place: Place, from: usize, role: ColumnKind, at: usize): usize {
  const presence = at + 4 * <usize>(rows + 1);
  const bytes = presence + rows;
  place.presence = <u32>(presence - block);
  place.bytes = <u32>(bytes - block);
  store<u32>(at, 0);
  let end = bytes;
  for (let row: u32 = 0; row < rows; row++) {
    const cell = from + <usize>row * cellBytes;
    const serial = serialOf(cell);
    store<u8>(presence + row, serial !== 0 ? 1 : 0);
    if (serial !== 0) {
      const source = placeOf(cell);
      const size = <usize>((serial - 12) >>> 1);
      if (serial < 12 || !isPlain(source, size, serial, role)) return 0;
      copy(end, source, size);
      end += size;
    }
    store<u32>(at + 4 * <usize>(row + 1), <u32>(end - bytes));
  }
  place.end = <u32>(end - block);
  return end;
}

/** Copies short bytes sixteen at a time; what is after them is written later. */
function copy(to: usize, from: usize, size: usize): void {
  if (size > 32) {
    memory.copy(to, from, size);
    return;
  }
  v128.store(to, v128.load(from));
  if (size > 16) v128.store(to + 16, v128.load(from + 16));
}

/** Whether a blob or text is what the column holds, in its canonical form. */
function isPlain(at: usize, size: usize, serial: u32, role: ColumnKind): bool {
  if (role === ColumnKind.binary) return (serial & 1) === 0;
  if ((serial & 1) === 0) return false;
  switch (role) {
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
