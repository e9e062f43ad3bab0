/** Passes over records that tell nothing new of the columns of a table of text. */
import { CellFlag, flagOf } from "./cell-values.js";
import { cellEnd, cellStart, countRecords, markAt, Notation } from "./cell-window.js";

/** What is looked at in the cells of a column, as bits. */
enum Look {
  size = 1,
  flag = 2,
  /** Empty cells are left to TypeScript. */
  filled = 4,
  /** Cells of two quotes with nothing between them are. */
  emptyText = 8,
  /** Cells without quotes are. */
  unquoted = 16,
  /** Cells that do not begin like the last geometry are. */
  geometry = 32,
}

/** What is known of a column. */
@unmanaged
class ColumnState {
  /** Bits of `Look`. */
  look: u32;
  /** Flags that tell nothing new, and the greatest size of a cell that does not. */
  flags: u32;
  maxSize: u32;
  /** Set by `passRecords` where flags are looked at: the number of cells that are not empty. */
  values: u32;
}

const states = memory.data(16 * 1024, 4);

/** The text of the last geometry before its first number, and how many numbers its first position has. */
const prefix = memory.data(160);
let prefixBytes: usize = 0;
let prefixNumbers: u32 = 0;

export function prefixAt(): usize {
  return prefix;
}

export function setPrefix(size: u32, numbers: u32): void {
  prefixBytes = size;
  prefixNumbers = numbers;
}

export function statesAt(): usize {
  return states;
}

function stateOf(column: u32): ColumnState {
  return changetype<ColumnState>(states + <usize>column * offsetof<ColumnState>());
}

/**
 * Passes over records of `columns` cells, at most `most`, that tell nothing new.
 * @param first the first mark of the first of them
 * @returns how many they are
 */
export function passRecords(first: u32, columns: u32, most: u32, decimal: u8): u32 {
  let records = countRecords(first, columns, most);
  for (let column: u32 = 0; column < columns && records > 0; column++) {
    const state = stateOf(column);
    if (state.look !== 0) records = passCells(state, first + column, columns, records, decimal);
  }
  for (let column: u32 = 0; column < columns; column++) {
    const state = stateOf(column);
    state.values = (state.look & Look.flag) !== 0 ? countFilled(first + column, columns, records) : 0;
  }
  return records;
}

/** @returns how many of the cells, of each of which the mark is `step` behind the one before, tell nothing new */
function passCells(state: ColumnState, first: u32, step: u32, count: u32, decimal: u8): u32 {
  const look = state.look;
  const flags = state.flags;
  const maxSize = state.maxSize;
  let mark = first;
  for (let n: u32 = 0; n < count; n++, mark += step) {
    const notation = markAt(mark);
    const from = cellStart(mark, notation);
    const to = cellEnd(notation);
    const isQuoted = (notation & Notation.quoted) !== 0;
    if (from === to) {
      if ((look & Look.filled) !== 0 || (isQuoted && (look & Look.emptyText) !== 0)) return n;
      continue;
    }
    if (<u32>(to - from) > maxSize) return n;
    if ((look & Look.geometry) !== 0 && ((notation & Notation.doubled) !== 0 || !isSimilarGeometry(from, to))) return n;
    if ((look & Look.flag) === 0) continue;
    if (!isQuoted && (look & Look.unquoted) !== 0) return n;
    const flag = flagOf(from, to, decimal);
    if (flag === CellFlag.unknown || (flag & ~flags) !== 0) return n;
  }
  return count;
}

/** Whether a cell begins like the last geometry, as `WktScan` in `plugins/shared/table/geometry/geometry-scan.ts` says. */
function isSimilarGeometry(from: usize, to: usize): bool {
  for (let n: usize = 0; n < prefixBytes; n++) if (load<u8>(from + n) !== load<u8>(prefix + n)) return false;
  let at = from + prefixBytes;
  if (!isNumberStart(load<u8>(at))) return false;
  for (let numbers: u32 = 0; at < to; at++) {
    const start = at;
    while (at < to && !isNumberEnd(load<u8>(at)) && !isSpace(load<u8>(at))) at++;
    if (at === to || (start < at && !isNumberStart(load<u8>(start)))) return false;
    if (start < at) numbers++;
    if (isNumberEnd(load<u8>(at))) return numbers === prefixNumbers;
  }
  return false;
}

/** A comma or a closing bracket. */
function isNumberEnd(byte: u8): bool {
  return byte === 44 || byte === 41;
}

function isSpace(byte: u8): bool {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

/** A digit, sign or point. */
function isNumberStart(byte: u8): bool {
  return (byte >= 48 && byte <= 57) || byte === 45 || byte === 43 || byte === 46;
}

function countFilled(first: u32, step: u32, count: u32): u32 {
  let filled: u32 = 0;
  let mark = first;
  for (let n: u32 = 0; n < count; n++, mark += step) {
    const found = markAt(mark);
    if (cellStart(mark, found) !== cellEnd(found)) filled++;
  }
  return filled;
}
