/** A window of a table of text, and the bytes in it that end cells and records. */

/** Bytes of the window, and the greatest number of marks. */
export const windowBytes: usize = 65536;
/** Readable behind the window. */
export const window = memory.data(65536 + 128);
/**
 * A mark is the offset behind its byte, `Notation` bits of the cell that it ends, and an `Ending`. One more mark, before the
 * others, is where the first cell begins.
 */
const marksMemory = memory.data(4 * 65537, 4);
export const marks: usize = marksMemory + 4;

export enum Ending {
  cell,
  /** A line feed. */
  record,
  /** A carriage return alone, or a quote that does not enclose a whole cell: only the whole record explains them. */
  unclear,
}

export enum Notation {
  /** Between quotes, which are the first and the last byte of the cell. */
  quoted = 4,
  /** Before a carriage return and a line feed. */
  returned = 8,
  /** With doubled quotes inside. */
  doubled = 16,
  /** With line ends inside. */
  broken = 32,
}

/** A mark is shifted by this to the offset. */
export const offsetShift: u32 = 6;

/** Of the last call of `findMarks`. */
export let markCount: u32 = 0;

/** @param end behind the last mark. @returns the number of marks */
export function setMarks(from: u32, end: usize): u32 {
  store<u32>(marks - 4, from << offsetShift);
  markCount = <u32>((end - marks) >> 2);
  return markCount;
}

export function markAt(index: u32): u32 {
  return load<u32>(marks + 4 * <usize>index);
}

export function endingOf(mark: u32): Ending {
  return <Ending>(mark & 3);
}

/** Where the text of a cell begins, without its quotes, which `mark`, the one of this index, ends. */
export function cellStart(index: u32, mark: u32): usize {
  return window + (load<u32>(marks - 4 + 4 * <usize>index) >>> offsetShift) + ((mark >>> 2) & 1);
}

/** Where the text of a cell ends, without its quotes, whose mark is given. */
export function cellEnd(mark: u32): usize {
  return window + (mark >>> offsetShift) - 1 - popcnt(mark & (Notation.quoted | Notation.returned));
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
    if (endingOf(markAt(mark++)) !== Ending.record) return records;
  }
  return most;
}
