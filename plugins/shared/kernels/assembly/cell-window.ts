/** A window of a table of text, and the bytes in it that end cells and records. */

/** Bytes of the window, and the greatest number of marks. */
export const windowBytes: usize = 65536;
/** Readable behind the window. */
export const window = memory.data(65536 + 128);
/** A mark is the offset of its byte, the notation of the cell that it ends, as `Notation` bits, and an `Ending`. */
export const marks = memory.data(4 * 65536, 4);

export enum Ending {
  cell,
  /** A line feed. */
  record,
  /** A line feed behind a carriage return, which has no mark of its own. */
  recordOfTwo,
  /** Another carriage return, or a quote that does not enclose a whole cell: only the whole record explains them. */
  unclear,
}

export enum Notation {
  /** Between quotes, which are the first and the last byte of the cell. */
  quoted = 4,
  /** With doubled quotes inside. */
  doubled = 8,
  /** With line ends inside. */
  broken = 16,
}

/** A mark is shifted by this to the offset. */
export const offsetShift: u32 = 5;

/** Of the last call of `findMarks`: where the first cell begins, and the number of marks. */
let firstCell: usize = window;
export let markCount: u32 = 0;

/** @param end behind the last mark. @returns the number of marks */
export function setMarks(from: u32, end: usize): u32 {
  firstCell = window + from;
  markCount = <u32>((end - marks) >> 2);
  return markCount;
}

export function markAt(index: u32): u32 {
  return load<u32>(marks + 4 * <usize>index);
}

export function endingOf(mark: u32): Ending {
  return <Ending>(mark & 3);
}

/** Where the text of the cell is that the mark ends, without the quotes around it. */
export function cellStart(index: u32): usize {
  const quotes = <usize>(markAt(index) >>> 2) & 1;
  return quotes + (index === 0 ? firstCell : window + (markAt(index - 1) >>> offsetShift) + 1);
}

export function cellEnd(index: u32): usize {
  const mark = markAt(index);
  const quotes = <usize>(mark >>> 2) & 1;
  return window + (mark >>> offsetShift) - (endingOf(mark) === Ending.recordOfTwo ? 1 : 0) - quotes;
}

/** The result of the last call of `countRecords`. */
let counted: u32 = 0;

/** The number of records that the last call looked at: their cells are as many as the columns. */
export function candidates(): u32 {
  return counted;
}

/** Says that the last call need have looked at so many only. */
export function limitCandidates(records: u32): void {
  counted = records;
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
