/**
 * Counts the values of the fields of a layer: a table of counts and a HyperLogLog for each field, filled from rows of
 * one column at a time. One instance for each layer, whose memory is freed as a whole.
 */
import { hashBytes, hashPoint, hashWords } from "./hash.js";
import { allocate, copyShort, enlarge, freeAll, isEqual } from "./memory.js";
import { addNumbers, finite, greatest, isFiniteNumber, least, lost, notFinite, sum } from "./numbers.js";
import {
  addNumbersToSketch,
  addToLevel,
  addToSketch,
  compactSketch,
  createSketch,
  lengthOfLevel,
  levelsOf,
  valuesOfLevel,
} from "./quantiles.js";
import { resetSort } from "./sort.js";
import { findExtremes, firstRow, lastRow, longestRow } from "./texts.js";

/** The rows of a column: the input of all functions. Value n is `bytes[ends[n] … ends[n + 1]]`. */
@unmanaged
class Rows {
  room: u32;
  byteRoom: u32;
  tags: usize;
  presence: usize;
  /** Whether a row has a value that was not in its table when it was counted. */
  fresh: usize;
  hashes: usize;
  counts: usize;
  ends: usize;
  bytes: usize;
}

/** Values that were counted, in the order of their first occurrence. */
@unmanaged
class Table {
  size: u32;
  room: u32;
  byteRoom: u32;
  /** Number of slots: a power of two. */
  slotCount: u32;
  tags: usize;
  hashes: usize;
  counts: usize;
  /** The bytes of entry k are `bytes[ends[k] … ends[k + 1]]`. */
  ends: usize;
  bytes: usize;
  /** The number of an entry, from 1, with bits of its hash; 0 is free. */
  slots: usize;
  /** How much less than the true ones counts can be. */
  error: f64;
  maxSize: u32;
  maxBytes: u32;
  /** Registers of the HyperLogLog; 0 as long as the table has every value. */
  registers: usize;
  /** The sketch for quantiles; 0 without one. */
  quantiles: usize;
}

const minRoom: u32 = 16;
/** The bits of a slot that are the number of an entry. A table that is full is purged long before it has so many. */
const entryMask: u32 = 0x1ffff;
/** Tags of doubles and of 64-bit integers, as in `src/statistics/value-reader.ts`. */
const numberTag: u8 = 1;
const integerTag: u8 = 2;
/** Values of these tags have eight bytes; others have the bytes of texts. */
const lastWordTag = integerTag;
/** Present values, as in `src/model/column.ts`. */
const present: u8 = 1;
/** Longer values are not counted once the table is full. */
const maxSketchedBytes: u32 = 1024;
const registerBits: u32 = 14;
const registerCount: u32 = 1 << registerBits;

let rows: Rows = changetype<Rows>(0);

/** Frees everything, and forgets all fields. */
export function reset(): void {
  freeAll();
  rows = changetype<Rows>(allocate(offsetof<Rows>()));
  memory.fill(changetype<usize>(rows), 0, offsetof<Rows>());
  scratchRoom = 0;
  resetSort();
}

/** Makes room for a number of rows with a number of bytes. */
export function reserve(count: u32, bytes: u32): void {
  if (count > rows.room) {
    rows.room = max<u32>(1024, 2 * count);
    const room = <usize>rows.room;
    rows.tags = allocate(room);
    rows.presence = allocate(room);
    rows.fresh = allocate(room);
    rows.hashes = allocate(8 * room);
    rows.counts = allocate(8 * room);
    rows.ends = allocate(4 * (room + 1));
  }
  if (bytes > rows.byteRoom) {
    rows.byteRoom = max<u32>(1 << 16, 2 * bytes);
    rows.bytes = allocate(rows.byteRoom);
  }
}

export function tagsOfRows(): usize {
  return rows.tags;
}
export function presenceOfRows(): usize {
  return rows.presence;
}
export function hashesOfRows(): usize {
  return rows.hashes;
}
export function countsOfRows(): usize {
  return rows.counts;
}
export function endsOfRows(): usize {
  return rows.ends;
}
export function bytesOfRows(): usize {
  return rows.bytes;
}

/** Says that all of the rows have values of one kind, each counted once. */
export function describeRows(count: u32, tag: u8): void {
  memory.fill(rows.tags, tag, count);
  for (let n: u32 = 0; n < count; n++) setNumber(rows.counts, n, 1);
}

/** Says that the rows have eight bytes each. */
export function endWords(count: u32): void {
  for (let n: u32 = 0; n <= count; n++) store<u32>(rows.ends + 4 * <usize>n, 8 * n);
}

function endOf(ends: usize, n: u32): u32 {
  return load<u32>(ends + 4 * <usize>n);
}

function numberAt(numbers: usize, n: u32): f64 {
  return load<f64>(numbers + 8 * <usize>n);
}

function setNumber(numbers: usize, n: u32, number: f64): void {
  store<f64>(numbers + 8 * <usize>n, number);
}

/** Hashes the values of the rows. */
export function hashRows(count: u32): void {
  for (let n: u32 = 0; n < count; n++) {
    const from = endOf(rows.ends, n);
    const tag = load<u8>(rows.tags + n);
    const at = rows.bytes + from;
    const hash = tag <= lastWordTag ? hashWords(tag, at) : hashBytes(at, endOf(rows.ends, n + 1) - from);
    store<u64>(rows.hashes + 8 * <usize>n, hash);
  }
}

/** Hashes rows that are the coordinates of points, as `src/statistics/geometry-statistics.ts` does. */
export function hashPoints(count: u32): void {
  for (let n: u32 = 0; n < count; n++) {
    const at = rows.bytes + 16 * <usize>n;
    // −0 and 0 are equal.
    store<f64>(at, load<f64>(at) + 0);
    store<f64>(at, load<f64>(at, 8) + 0, 8);
    store<u64>(rows.hashes + 8 * <usize>n, hashPoint(at));
  }
}

/** The number of rows that are present. */
export function countPresent(count: u32): u32 {
  let found: u32 = 0;
  for (let n: u32 = 0; n < count; n++) found += <u32>(load<u8>(rows.presence + n) === present);
  return found;
}

/** Adds the rows, which are numbers, to a sum, of which rounding lost a part, and replaces −0. */
export function sumRows(count: u32, sumBefore: f64, lostBefore: f64): void {
  addNumbers(rows.bytes, rows.presence, count, sumBefore, lostBefore);
}
export function sumOfRows(): f64 {
  return sum;
}
export function lostOfRows(): f64 {
  return lost;
}
/** The least and the greatest of the finite rows that `sumRows` added. */
export function leastRow(): f64 {
  return least;
}
export function greatestRow(): f64 {
  return greatest;
}
export function finiteRows(): u32 {
  return finite;
}
export function notFiniteRows(): u32 {
  return notFinite;
}

/** @returns the row with the first of the texts that were not in their table; −1 if there are none */
export function firstText(count: u32): i32 {
  findExtremes(rows.bytes, rows.ends, rows.fresh, count);
  return firstRow;
}
/** The row with the last of the texts that `firstText` looked at. */
export function lastText(): i32 {
  return lastRow;
}
/** The first row with the most bytes among those texts. */
export function longestText(): i32 {
  return longestRow;
}

/** @returns a table of at most so many values and bytes */
export function createTable(maxSize: u32, maxBytes: u32): usize {
  const table = changetype<Table>(allocate(offsetof<Table>()));
  memory.fill(changetype<usize>(table), 0, offsetof<Table>());
  table.maxSize = maxSize;
  table.maxBytes = maxBytes;
  table.room = minRoom;
  table.byteRoom = 16 * minRoom;
  table.tags = allocate(minRoom);
  table.hashes = allocate(8 * minRoom);
  table.counts = allocate(8 * minRoom);
  table.ends = allocate(4 * (minRoom + 1));
  table.bytes = allocate(table.byteRoom);
  store<u32>(table.ends, 0);
  setSlots(table, 2 * minRoom);
  return changetype<usize>(table);
}

export function sizeOf(table: Table): u32 {
  return table.size;
}
export function errorOf(table: Table): f64 {
  return table.error;
}
export function addError(table: Table, error: f64): void {
  table.error += error;
}
export function tagsOf(table: Table): usize {
  return table.tags;
}
export function hashesOf(table: Table): usize {
  return table.hashes;
}
export function countsOf(table: Table): usize {
  return table.counts;
}
export function endsOf(table: Table): usize {
  return table.ends;
}
export function bytesOf(table: Table): usize {
  return table.bytes;
}
export function registersOf(table: Table): usize {
  return table.registers;
}

/** Whether a value of the table occurred more than once. */
export function hasRepeated(table: Table): bool {
  for (let entry: u32 = 0; entry < table.size; entry++) if (numberAt(table.counts, entry) !== 1) return true;
  return false;
}

export function isFull(table: Table): bool {
  return table.size > table.maxSize || endOf(table.ends, table.size) > table.maxBytes;
}

/**
 * Counts rows from `first` on, until the table is full.
 * @returns the row behind the last one that was counted
 */
export function countRows(table: Table, first: u32, count: u32): u32 {
  let row = first;
  while (row < count) {
    if (load<u8>(rows.presence + row) === present) addRow(table, row);
    else store<u8>(rows.fresh + row, 0);
    row++;
    if (isFull(table)) break;
  }
  return row;
}

/** Counts rows, however full the table is. */
export function addRows(table: Table, count: u32): void {
  for (let row: u32 = 0; row < count; row++) addRow(table, row);
}

/** Passes the values of the table to a HyperLogLog, which gets all values from now on. */
export function startSketch(table: Table): void {
  if (table.registers !== 0) return;
  table.registers = allocate(registerCount);
  memory.fill(table.registers, 0, registerCount);
  for (let entry: u32 = 0; entry < table.size; entry++) sketch(table.registers, hashAt(table.hashes, entry));
}

/** Adds rows from `first` on to the HyperLogLog, and counts them in the table, which is purged when it is full. */
export function sketchRows(table: Table, first: u32, count: u32): void {
  const registers = table.registers;
  for (let row = first; row < count; row++) {
    const isPresent = load<u8>(rows.presence + row) === present;
    // A value that is too long may be one.
    store<u8>(rows.fresh + row, <u8>isPresent);
    if (!isPresent) continue;
    sketch(registers, hashAt(rows.hashes, row));
    if (endOf(rows.ends, row + 1) - endOf(rows.ends, row) > maxSketchedBytes) continue;
    addRow(table, row);
    if (isFull(table)) purge(table);
  }
}

/** Starts the sketch for quantiles, with the numbers of the table. */
export function startQuantiles(table: Table): void {
  table.quantiles = createSketch();
  for (let entry: u32 = 0; entry < table.size; entry++) {
    const at = table.bytes + endOf(table.ends, entry);
    addValueToSketch(table.quantiles, load<u8>(table.tags + entry), at, numberAt(table.counts, entry));
  }
}

/** Adds the finite ones of the rows from `first` on, which are numbers, to the quantiles. */
export function addQuantiles(table: Table, first: u32, count: u32): void {
  addNumbersToSketch(table.quantiles, rows.bytes, rows.presence, first, count);
}

/** Adds those of the rows from `first` on that are finite numbers to the quantiles, as often as they are counted. */
export function addQuantileRows(table: Table, first: u32, count: u32): void {
  for (let row = first; row < count; row++) {
    if (load<u8>(rows.presence + row) !== present) continue;
    const at = rows.bytes + endOf(rows.ends, row);
    addValueToSketch(table.quantiles, load<u8>(rows.tags + row), at, numberAt(rows.counts, row));
  }
}

/** Adds the value at `at`, unless it is not a finite number. */
function addValueToSketch(quantiles: usize, tag: u8, at: usize, times: f64): void {
  if (tag === numberTag) {
    const value = load<f64>(at);
    if (isFiniteNumber(value)) addToSketch(quantiles, value, times);
  } else if (tag === integerTag) addToSketch(quantiles, <f64>load<i64>(at), times);
}

/** Adds the rows, which are numbers that stand for 2^level each, to the quantiles; `compactQuantiles` must follow. */
export function mergeQuantiles(table: Table, level: u32, count: u32): void {
  addToLevel(table.quantiles, level, rows.bytes, count);
}

export function compactQuantiles(table: Table): void {
  compactSketch(table.quantiles);
}

/** The levels of the quantiles, with their numbers. */
export function quantileLevels(table: Table): u32 {
  return levelsOf(table.quantiles);
}
export function quantilesOf(table: Table, level: u32): usize {
  return valuesOfLevel(table.quantiles, level);
}
export function quantileCount(table: Table, level: u32): u32 {
  return lengthOfLevel(table.quantiles, level);
}

/** Adds the registers of another HyperLogLog, which are the bytes of the rows. */
export function mergeRegisters(table: Table): void {
  for (let at: usize = 0; at < registerCount; at += 16) {
    const own = table.registers + at;
    v128.store(own, i8x16.max_u(v128.load(own), v128.load(rows.bytes + at)));
  }
}

function hashAt(hashes: usize, n: u32): u64 {
  return load<u64>(hashes + 8 * <usize>n);
}

function sketch(registers: usize, hash: u64): void {
  const register = registers + <usize>(<u32>hash >>> (32 - registerBits));
  const rank = <u8>(clz<u32>(<u32>(hash >>> 32)) + 1);
  if (rank > load<u8>(register)) store<u8>(register, rank);
}

function slotAt(table: Table, slot: u32): usize {
  return table.slots + 4 * <usize>slot;
}

/** A slot of the entry with this number, from 1: it begins with bits of the hash that do not choose the slot. */
function slotOf(hash: u64, number: u32): u32 {
  return (<u32>(hash >> 32) & ~entryMask) | number;
}

/** Counts a row. Whether the value is known is stored, too: unknown ones are `fresh`. */
function addRow(table: Table, row: u32): void {
  const hash = hashAt(rows.hashes, row);
  const wanted = slotOf(hash, 0);
  const mask = table.slotCount - 1;
  let slot = <u32>hash & mask;
  for (;;) {
    const found = load<u32>(slotAt(table, slot));
    if (found === 0) break;
    if ((found & ~entryMask) === wanted && isEntry(table, (found & entryMask) - 1, row, hash)) {
      const entry = (found & entryMask) - 1;
      setNumber(table.counts, entry, numberAt(table.counts, entry) + numberAt(rows.counts, row));
      store<u8>(rows.fresh + row, 0);
      return;
    }
    slot = (slot + 1) & mask;
  }
  store<u32>(slotAt(table, slot), slotOf(hash, table.size + 1));
  store<u8>(rows.fresh + row, 1);
  append(table, row, hash);
  if (table.size << 2 > 3 * table.slotCount) setSlots(table, table.slotCount << 1);
}

function isEntry(table: Table, entry: u32, row: u32, hash: u64): bool {
  if (hashAt(table.hashes, entry) !== hash || load<u8>(table.tags + entry) !== load<u8>(rows.tags + row)) return false;
  const start = endOf(table.ends, entry);
  const from = endOf(rows.ends, row);
  const size = endOf(rows.ends, row + 1) - from;
  if (endOf(table.ends, entry + 1) - start !== size) return false;
  return isEqual(table.bytes + start, rows.bytes + from, size);
}

function append(table: Table, row: u32, hash: u64): void {
  const entry = table.size;
  const start = endOf(table.ends, entry);
  const from = endOf(rows.ends, row);
  const size = endOf(rows.ends, row + 1) - from;
  if (entry === table.room) enlargeEntries(table);
  if (start + size > table.byteRoom) {
    table.byteRoom = max<u32>(start + size, 2 * table.byteRoom);
    table.bytes = enlarge(table.bytes, start, table.byteRoom);
  }
  copyShort(table.bytes + start, rows.bytes + from, size);
  store<u8>(table.tags + entry, load<u8>(rows.tags + row));
  store<u64>(table.hashes + 8 * <usize>entry, hash);
  setNumber(table.counts, entry, numberAt(rows.counts, row));
  table.size++;
  store<u32>(table.ends + 4 * <usize>table.size, start + size);
}

function enlargeEntries(table: Table): void {
  const used = <usize>table.size;
  const room = used << 1;
  table.room = <u32>room;
  table.tags = enlarge(table.tags, used, room);
  table.hashes = enlarge(table.hashes, 8 * used, 8 * room);
  table.counts = enlarge(table.counts, 8 * used, 8 * room);
  table.ends = enlarge(table.ends, 4 * (used + 1), 4 * (room + 1));
}

/** Gives the table so many slots, if it has fewer, and indexes its entries. */
function setSlots(table: Table, count: u32): void {
  if (count > table.slotCount) {
    table.slotCount = count;
    table.slots = allocate(4 * <usize>count);
  }
  memory.fill(table.slots, 0, 4 * <usize>table.slotCount);
  const mask = table.slotCount - 1;
  for (let entry: u32 = 0; entry < table.size; entry++) {
    const hash = hashAt(table.hashes, entry);
    let slot = <u32>hash & mask;
    while (load<u32>(slotAt(table, slot)) !== 0) slot = (slot + 1) & mask;
    store<u32>(slotAt(table, slot), slotOf(hash, entry + 1));
  }
}

/** Counts to be sorted; kept for the next time. */
let scratch: usize = 0;
let scratchRoom: u32 = 0;

/** The count in the middle of all in their order. */
function median(table: Table): f64 {
  let ones: u32 = 0;
  for (let entry: u32 = 0; entry < table.size; entry++) if (numberAt(table.counts, entry) === 1) ones++;
  // No count is less than 1.
  if (ones > table.size >> 1) return 1;
  if (table.room > scratchRoom) {
    scratchRoom = table.room;
    scratch = allocate(8 * <usize>scratchRoom);
  }
  memory.copy(scratch, table.counts, 8 * <usize>table.size);
  return select(scratch, table.size, table.size >> 1);
}

/** The value that would be at index `wanted` of the `count` values at `values` if they were sorted (C. A. R. Hoare, 1961). */
function select(values: usize, count: u32, wanted: u32): f64 {
  let least: i32 = 0;
  let most = <i32>count - 1;
  const target = <i32>wanted;
  while (least < most) {
    const pivot = numberAt(values, (least + most) >>> 1);
    let low = least;
    let high = most;
    while (low <= high) {
      while (numberAt(values, low) < pivot) low++;
      while (numberAt(values, high) > pivot) high--;
      if (low > high) break;
      const moved = numberAt(values, low);
      setNumber(values, low++, numberAt(values, high));
      setNumber(values, high--, moved);
    }
    if (target <= high) most = high;
    else if (target >= low) least = low;
    else break;
  }
  return numberAt(values, wanted);
}

/** Drops at least half of the values, and the long ones; keeps the room that they took. */
export function purge(table: Table): void {
  const cut = median(table);
  let kept: u32 = 0;
  let end: u32 = 0;
  let from: u32 = 0;
  for (let entry: u32 = 0; entry < table.size; entry++) {
    const to = endOf(table.ends, entry + 1);
    const size = to - from;
    const count = numberAt(table.counts, entry) - cut;
    if (count > 0 && size <= maxSketchedBytes) {
      memory.copy(table.bytes + end, table.bytes + from, size);
      end += size;
      store<u8>(table.tags + kept, load<u8>(table.tags + entry));
      store<u64>(table.hashes + 8 * <usize>kept, hashAt(table.hashes, entry));
      setNumber(table.counts, kept, count);
      kept++;
      store<u32>(table.ends + 4 * <usize>kept, end);
    }
    from = to;
  }
  table.size = kept;
  table.error += cut;
  setSlots(table, 0);
}
