/** Finds the bytes that end cells and records of a table of text (RFC 4180), sixty-four bytes at a time. */
import { cellStart, Ending, markAt, marks, Notation, offsetShift, setMarks, window } from "./cell-window.js";

const lineFeed: u8 = 10;
const carriageReturn: u8 = 13;
const quote: u8 = 34;

/** Whether the last call of `findMarks` found line ends in quotes. */
let hasBroken = false;

/** Bit n says whether byte n of the block is `byte`. */
function matches(block: usize, byte: u8): u64 {
  const wanted = i8x16.splat(byte);
  const first = <u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(block), wanted)));
  const second = <u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(block, 16), wanted)));
  const third = <u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(block, 32), wanted)));
  const fourth = <u64>(<u32>i8x16.bitmask(i8x16.eq(v128.load(block, 48), wanted)));
  return first | (second << 16) | (third << 32) | (fourth << 48);
}

/** Which of sixteen bytes are line ends. */
function lineEndsOf(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, i8x16.splat(lineFeed)), i8x16.eq(bytes, i8x16.splat(carriageReturn)));
}

/** Whether a block has line ends. */
function hasLineEnd(block: usize): bool {
  const first = v128.or(lineEndsOf(v128.load(block)), lineEndsOf(v128.load(block, 16)));
  const last = v128.or(lineEndsOf(v128.load(block, 32)), lineEndsOf(v128.load(block, 48)));
  return v128.any_true(v128.or(first, last));
}

/** Bit n is the parity of the bits up to n. */
function parities(bits: u64): u64 {
  let sums = bits ^ (bits << 1);
  sums ^= sums << 2;
  sums ^= sums << 4;
  sums ^= sums << 8;
  sums ^= sums << 16;
  return sums ^ (sums << 32);
}

function bitsBelow(bit: u64): u64 {
  return bit < 64 ? ((<u64>1) << bit) - 1 : ~(<u64>0);
}

/**
 * Marks the ends of cells among the bytes `from … size` of the window, up to the first byte that is unclear. A record begins
 * at `from`.
 * @returns the number of marks
 */
export function findMarks(from: u32, size: u32, delimiter: u8): u32 {
  let mark = marks;
  // Of the bytes before a block: all bits if it begins in quotes; bits 0 and 1 if one of the last two closes quotes; bit 0 if
  // the last one ends a cell.
  let inside: u64 = 0;
  let closed: u64 = 0;
  let ended: u64 = 1;
  // Known of a cell that began before the block.
  let notation: u32 = 0;
  hasBroken = false;
  for (let at = from; at < size; at += 64) {
    const block = window + at;
    const used = bitsBelow(size - at);
    const quotes = matches(block, quote) & used;
    if ((inside & ~quotes) === ~(<u64>0)) {
      // Most of long cells, as those of geometries.
      if (hasLineEnd(block)) {
        notation |= Notation.broken;
        hasBroken = true;
      }
      ended = 0;
      continue;
    }
    const lineEnds = (matches(block, lineFeed) | matches(block, carriageReturn)) & used;
    let ends = (matches(block, delimiter) & used) | lineEnds;
    let doubled: u64 = 0;
    let broken: u64 = 0;
    let odd: u64 = 0;
    const hasQuotes = (quotes | inside | closed) !== 0;
    if (hasQuotes) {
      // Bytes behind an odd number of quotes are in quotes, if quotes enclose whole cells and are doubled inside.
      const within = parities(quotes) ^ inside;
      const opens = quotes & within;
      const closes = quotes & ~within;
      const behindClose = (closes << 1) | (closed >> 1);
      ends &= ~within;
      odd = ((opens & ~((ends << 1) | ended | behindClose)) | (behindClose & ~(ends | opens))) & used;
      doubled = opens & behindClose;
      broken = lineEnds & within;
      hasBroken = hasBroken || broken !== 0;
      inside = <u64>(<i64>within >> 63);
      closed = closes >> 62;
    }
    ended = ends >> 63;
    if (odd !== 0) ends &= bitsBelow(ctz(odd));
    for (; ends !== 0; ends &= ends - 1) {
      const offset = at + <u32>ctz(ends);
      const byte = load<u8>(window + offset);
      let ending = Ending.cell;
      if (byte !== delimiter) {
        if (byte === carriageReturn) {
          if (offset + 1 === size || load<u8>(window + offset, 1) === lineFeed) continue;
          return endUnclear(from, mark, offset);
        }
        ending = Ending.record;
        if (offset > from && load<u8>(window + offset - 1) === carriageReturn) notation |= Notation.returned;
      }
      if (hasQuotes) {
        const end = offset - <u32>((notation & Notation.returned) !== 0);
        if (end > from && load<u8>(window + end - 1) === quote) notation |= Notation.quoted;
        const before = (ends & (0 - ends)) - 1;
        if ((doubled & before) !== 0) notation |= Notation.doubled;
        if ((broken & before) !== 0) notation |= Notation.broken;
        doubled &= ~before;
        broken &= ~before;
      }
      store<u32>(mark, ((offset + 1) << offsetShift) | notation | ending);
      notation = 0;
      mark += 4;
    }
    if (odd !== 0) return endUnclear(from, mark, at + <u32>ctz(odd));
    if (doubled !== 0) notation |= Notation.doubled;
    if (broken !== 0) notation |= Notation.broken;
  }
  return setMarks(from, mark);
}

/** Adds the mark of an unclear byte. @returns the number of marks */
function endUnclear(from: u32, mark: usize, offset: u32): u32 {
  store<u32>(mark, ((offset + 1) << offsetShift) | Ending.unclear);
  return setMarks(from, mark + 4);
}

/** The number of lines of so many records, of which the first mark is `first`. */
export function countLines(first: u32, records: u32, columns: u32): u32 {
  if (!hasBroken) return records;
  const to = window + (markAt(first + records * columns - 1) >>> offsetShift);
  let lines: u64 = 0;
  for (let at = cellStart(first, 0); at < to; at += 64) {
    const ends = matches(at, lineFeed) | (matches(at, carriageReturn) & ~matches(at + 1, lineFeed));
    lines += popcnt(ends & bitsBelow(to - at));
  }
  return <u32>lines;
}
