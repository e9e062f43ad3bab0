/**
 * Finds the bytes that end cells and records in a window of a table of text, sixteen bytes at a time; passes over records
 * that tell nothing new of their columns; and reads records into columns.
 */
import { Ending, marks, setMarkCount, window } from "./cell-window.js";

export { candidates } from "./cell-window.js";
export { kindsAt, presenceAt, readRecords, textStartsAt, textsAt, valuesAt } from "./record-columns.js";
export { passRecords, statesAt } from "./record-survey.js";

const lineFeed: u8 = 10;
const carriageReturn: u8 = 13;
const quote: u8 = 34;

export function windowAt(): usize {
  return window;
}

export function marksAt(): usize {
  return marks;
}

/** @returns the number of marks in the first `size` bytes of the window */
export function findMarks(size: u32, delimiter: u8): u32 {
  const delimiters = i8x16.splat(delimiter);
  const feeds = i8x16.splat(lineFeed);
  const returns = i8x16.splat(carriageReturn);
  const quotes = i8x16.splat(quote);
  let mark = marks;
  for (let at: u32 = 0; at < size; at += 16) {
    const bytes = v128.load(window + at);
    const ends = v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, feeds));
    const others = v128.or(i8x16.eq(bytes, returns), i8x16.eq(bytes, quotes));
    for (let found = i8x16.bitmask(v128.or(ends, others)); found !== 0; found &= found - 1) {
      const offset = at + <u32>ctz(found);
      if (offset >= size) break;
      const byte = load<u8>(window + offset);
      if (byte === carriageReturn && offset + 1 < size && load<u8>(window + offset, 1) === lineFeed) continue;
      store<u32>(mark, (offset << 2) | endingOfByte(byte, offset, delimiter));
      mark += 4;
    }
  }
  const count = <u32>((mark - marks) >> 2);
  setMarkCount(count);
  return count;
}

function endingOfByte(byte: u8, offset: u32, delimiter: u8): Ending {
  if (byte === delimiter) return Ending.cell;
  if (byte !== lineFeed) return Ending.unclear;
  return offset > 0 && load<u8>(window + offset - 1) === carriageReturn ? Ending.recordOfTwo : Ending.record;
}
