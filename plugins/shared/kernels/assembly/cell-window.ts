/** A window of a table of text, and the bytes in it that end cells and records. */

/** Bytes of the window, and the greatest number of marks. */
export const windowBytes: usize = 65536;
/** Readable behind the window. */
export const window = memory.data(65536 + 32);
/** A mark is four times the offset of its byte and an `Ending`. */
export const marks = memory.data(4 * 65536, 4);

export enum Ending {
  cell,
  /** A line feed. */
  record,
  /** A line feed behind a carriage return, which has no mark of its own. */
  recordOfTwo,
  /** A quote or another carriage return, which only the whole record explains. */
  unclear,
}

/** Of the last call of `findMarks`. */
export let markCount: u32 = 0;

export function setMarkCount(count: u32): void {
  markCount = count;
}

export function markAt(index: u32): u32 {
  return load<u32>(marks + 4 * <usize>index);
}

export function endingOf(mark: u32): Ending {
  return <Ending>(mark & 3);
}

/** Where the cell is that the mark ends. */
export function cellStart(index: u32): usize {
  return index === 0 ? window : window + (markAt(index - 1) >>> 2) + 1;
}

export function cellEnd(index: u32): usize {
  const mark = markAt(index);
  return window + (mark >>> 2) - (endingOf(mark) === Ending.recordOfTwo ? 1 : 0);
}

/** The result of the last call of `countRecords`. */
let counted: u32 = 0;

/** The number of records that the last call looked at: their cells are as many as the columns, and have no quotes. */
export function candidates(): u32 {
  return counted;
}

/** The number of consecutive records of so many cells, at most `most`, whose first mark is `first`. */
export function countRecords(first: u32, columns: u32, most: u32): u32 {
  counted = findRecords(first, columns, most);
  return counted;
}

function findRecords(first: u32, columns: u32, most: u32): u32 {
  let mark = first;
  for (let records: u32 = 0; records < most; records++) {
    const last = mark + columns - 1;
    if (last >= markCount) return records;
    for (; mark < last; mark++) if (endingOf(markAt(mark)) !== Ending.cell) return records;
    const ending = endingOf(markAt(mark++));
    if (ending !== Ending.record && ending !== Ending.recordOfTwo) return records;
  }
  return most;
}
