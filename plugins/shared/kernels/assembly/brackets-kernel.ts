/** Counts the brackets of JSON outside strings, 64 bytes at a time (after G. Langdale, D. Lemire, "Parsing Gigabytes of JSON per Second", 2019, 3.1). */

const quote: u8 = 34;
const backslash: u8 = 92;
/** With this bit, brackets are braces. */
const braceBit: u8 = 32;
const openBrace: u8 = 123;
const closeBrace: u8 = 125;

/** What `descend` stopped at. */
enum Position {
  endOfBlock,
  boundary,
  closing,
}

let block: usize = 0;
/** Where `descend` stopped, in bytes of the block, and the state there. */
let at: u32 = 0;
let depth: i32 = 0;
let inString: bool = false;

export function offset(): u32 {
  return at;
}
export function level(): i32 {
  return depth;
}
export function isInString(): bool {
  return inString;
}

/** @returns where to write a block of at most so many bytes */
export function reserve(size: usize): usize {
  block = heap.alloc(size + 64);
  return block;
}

/**
 * Moves from byte `from` of the block to the end of an object or array at level 0, if that end is at `stop` or later, or
 * past the bracket that closes the level itself.
 */
export function descend(from: u32, length: u32, fromDepth: i32, fromString: bool, stop: i32): Position {
  at = from;
  depth = fromDepth;
  inString = fromString;
  while (at < length) {
    const found =
      at + 64 <= length && !hasBackslash(block + at) ? passWord(stop) : passBytes(min(at + 64, length), stop);
    if (found !== Position.endOfBlock) return found;
  }
  return Position.endOfBlock;
}

function hasBackslash(from: usize): bool {
  const wanted = i8x16.splat(backslash);
  let found = i8x16.eq(v128.load(from), wanted);
  for (let k: usize = 16; k < 64; k += 16) found = v128.or(found, i8x16.eq(v128.load(from + k), wanted));
  return v128.any_true(found);
}

/** The bytes from `from` on that are `wanted` after `bits` were set in each. */
function bitsOf(from: usize, bits: u8, wanted: u8): u64 {
  let found: u64 = 0;
  for (let k: usize = 0; k < 64; k += 16) {
    const bytes = v128.or(v128.load(from + k), i8x16.splat(bits));
    found |= (<u64>(<u32>i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(wanted))))) << (<u64>k);
  }
  return found;
}

/** For each bit, whether an odd number of bits is set up to it. */
function oddUpTo(bits: u64): u64 {
  let odd = bits;
  for (let shift: u64 = 1; shift < 64; shift <<= 1) odd ^= odd << shift;
  return odd;
}

/** Passes over 64 bytes without backslashes. */
function passWord(stop: i32): Position {
  const from = block + at;
  const quotes = bitsOf(from, 0, quote);
  const strings = oddUpTo(quotes) ^ (inString ? u64.MAX_VALUE : 0);
  const opens = bitsOf(from, braceBit, openBrace) & ~strings;
  const closes = bitsOf(from, braceBit, closeBrace) & ~strings;
  const count = <i32>popcnt(closes);
  if (depth > count) depth += <i32>popcnt(opens) - count;
  else {
    const start = at;
    for (let left = opens | closes; left !== 0; left &= left - 1) {
      const bit = <u32>ctz(left);
      at = start + bit;
      if (((opens >> bit) & 1) === 1) depth++;
      else {
        const found = close(stop);
        if (found !== Position.endOfBlock) {
          inString = false;
          return found;
        }
      }
    }
    at = start;
  }
  at += 64;
  inString = <u64>strings >> 63 !== 0;
  return Position.endOfBlock;
}

/** Passes over bytes up to `end` one by one. */
function passBytes(end: u32, stop: i32): Position {
  while (at < end) {
    const byte = load<u8>(block + at);
    if (inString) {
      // An escaped byte may be behind the block.
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if ((byte | braceBit) === openBrace) depth++;
    else if ((byte | braceBit) === closeBrace) {
      const found = close(stop);
      if (found !== Position.endOfBlock) return found;
    }
    at++;
  }
  return Position.endOfBlock;
}

/** A bracket at `at` closes an object or an array. */
function close(stop: i32): Position {
  depth--;
  if (depth > 0 || (depth === 0 && <i32>at < stop)) return Position.endOfBlock;
  at++;
  if (depth === 0) return Position.boundary;
  depth = 0;
  return Position.closing;
}
