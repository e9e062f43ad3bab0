/**
 * Reads records of a table of text into columns, up to the first with a cell that is not in its plainest form: an integer
 * or decimal that a double holds exactly, `true` or `false`, a canonical date or time, any text, WKT of the most common form.
 */
import { isTruth, readDouble, readInteger, readsDecimal, readsInteger } from "./cell-values.js";
import { cellEnd, cellStart, countRecords, limitCandidates, markAt, Notation } from "./cell-window.js";
import { ColumnKind } from "./column-kind.js";
import { Temporal, temporalType } from "./temporal.js";
import { hasEnough, readGeometries } from "./wkt-column.js";

/** The kind of each column, and this bit if an empty cell is left to TypeScript. */
const filledBit: u8 = 128;
const quote: u8 = 34;
const kinds = memory.data(1024);
/** Where the bytes of each column of bytes begin in `texts`. */
const textStarts = memory.data(4 * 1024, 4);
/** Of column c, from record c · `candidates()` on: eight bytes a record; columns of bytes have offsets of four bytes there. */
const values = memory.data(8 * 65536, 8);
const presence = memory.data(65536);
/** Cells are copied sixteen bytes at a time. */
const texts = memory.data(65536 + 32);

export function kindsAt(): usize {
  return kinds;
}
export function textStartsAt(): usize {
  return textStarts;
}
export function valuesAt(): usize {
  return values;
}
export function presenceAt(): usize {
  return presence;
}
export function textsAt(): usize {
  return texts;
}

/**
 * Reads records of `columns` cells, at most `most`.
 * @param first the first mark of the first of them
 * @param geometry the column of WKT; −1 without one
 * @param positions the last record is the one with which the geometries have so many positions
 * @returns how many they are
 */
export function readRecords(first: u32, columns: u32, most: u32, geometry: i32, positions: u32): u32 {
  let counted = countRecords(first, columns, most);
  let records = counted;
  if (geometry >= 0) {
    records = readGeometries(first + <u32>geometry, columns, counted, positions);
    if (hasEnough) {
      limitCandidates(records);
      counted = records;
    }
  }
  let text: usize = texts;
  for (let column: u32 = 0; column < columns && records > 0; column++) {
    const kind = load<u8>(kinds + column);
    if (kind === ColumnKind.nothing) continue;
    const at = <usize>column * <usize>counted;
    const needsValue = (kind & filledBit) !== 0;
    const plainKind = <ColumnKind>(kind & ~filledBit);
    if (plainKind >= ColumnKind.text) {
      store<u32>(textStarts + 4 * <usize>column, <u32>(text - texts));
      records = readTexts(plainKind, first + column, columns, records, values + 8 * at, presence + at, text);
      text += load<u32>(values + 8 * at + 4 * <usize>records);
    } else
      records = readNumbers(plainKind, needsValue, first + column, columns, records, values + 8 * at, presence + at);
  }
  return records;
}

/** @returns the number of cells before the first that is left to TypeScript */
function readNumbers(
  kind: ColumnKind,
  needsValue: bool,
  first: u32,
  step: u32,
  count: u32,
  into: usize,
  present: usize,
): u32 {
  let mark = first;
  for (let n: u32 = 0; n < count; n++, mark += step) {
    const found = markAt(mark);
    const from = cellStart(mark, found);
    const to = cellEnd(found);
    const isFilled = from !== to;
    store<u8>(present + n, <u8>isFilled);
    if (!isFilled) {
      if (needsValue) return n;
      storeNull(kind, into, n);
    } else if (!readNumber(kind, from, to, into, n)) return n;
  }
  return count;
}

function storeNull(kind: ColumnKind, into: usize, n: u32): void {
  if (kind === ColumnKind.boolean) store<u8>(into + n, 0);
  else if (kind === ColumnKind.int32) store<i32>(into + 4 * <usize>n, 0);
  else store<u64>(into + 8 * <usize>n, 0);
}

function readNumber(kind: ColumnKind, from: usize, to: usize, into: usize, n: u32): bool {
  if (kind === ColumnKind.double) {
    if (!readsDecimal(from, to)) return false;
    store<f64>(into + 8 * <usize>n, readDouble);
    return true;
  }
  if (kind === ColumnKind.boolean) {
    const truth = isTruth(from, to);
    store<u8>(into + n, <u8>truth);
    return truth >= 0;
  }
  if (!readsInteger(from, to)) return false;
  if (kind === ColumnKind.int64) store<i64>(into + 8 * <usize>n, readInteger);
  else {
    if (<i64>(<i32>readInteger) !== readInteger) return false;
    store<i32>(into + 4 * <usize>n, <i32>readInteger);
  }
  return true;
}

/** @returns the number of cells before the first that is left to TypeScript */
function readTexts(
  kind: ColumnKind,
  first: u32,
  step: u32,
  count: u32,
  offsets: usize,
  present: usize,
  into: usize,
): u32 {
  let end = into;
  let mark = first;
  store<u32>(offsets, 0);
  for (let n: u32 = 0; n < count; n++, mark += step) {
    const notation = markAt(mark);
    const from = cellStart(mark, notation);
    const to = cellEnd(notation);
    // Only text can be two quotes with nothing between them.
    const isEmptyText = kind === ColumnKind.text && (notation & Notation.quoted) !== 0;
    store<u8>(present + n, <u8>(from !== to || isEmptyText));
    if (from !== to) {
      if (kind !== ColumnKind.text && !isCanonical(kind, from, to)) return n;
      if ((notation & Notation.doubled) !== 0) end = copyUnquoted(end, from, to);
      else {
        copy(end, from, to - from);
        end += to - from;
      }
    }
    store<u32>(offsets + 4 * <usize>(n + 1), <u32>(end - into));
  }
  return count;
}

function isCanonical(kind: ColumnKind, from: usize, to: usize): bool {
  const found = temporalType(from, to);
  if (kind === ColumnKind.date) return found === Temporal.date;
  return kind === ColumnKind.time ? found === Temporal.time : found === Temporal.datetime;
}

/** Copies bytes, of two consecutive quotes one. @returns the end of the copy */
function copyUnquoted(to: usize, from: usize, end: usize): usize {
  let target = to;
  let at = from;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(target, bytes);
    const quotes = <u32>i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(quote)));
    // Those behind the cell are not copied.
    const size = min<usize>(quotes === 0 ? 16 : ctz(quotes) + 1, end - at);
    target += size;
    at += size + <usize>(quotes !== 0);
  }
  return target;
}

/** Copies bytes and up to fifteen behind them, which are overwritten later. */
function copy(to: usize, from: usize, size: usize): void {
  if (size > 64) {
    memory.copy(to, from, size);
    return;
  }
  for (let at: usize = 0; at < size; at += 16) v128.store(to + at, v128.load(from + at));
}
