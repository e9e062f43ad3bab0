/**
 * Reads features of a GeoJSON that a program wrote one like the other: points whose text differs only in the values of
 * properties and in the coordinates. It lists the tokens and places of the values, and stops at the first feature that has
 * another text, or a value that is an object, an array, an encoded text, or a coordinate of more than nineteen digits.
 */
import { digitsEnd, readDouble, readsDecimal } from "./cell-values.js";

const maxRows: u32 = 1024;

/** Comparisons read up to sixteen bytes behind a text. */
const text = memory.data(4194304 + 32);
const runs = memory.data(4096 + 16);
/** The text before hole n is `runs[runEnds[n] … runEnds[n + 1]]`, and the one behind the last hole follows. */
const runEnds = memory.data(4 * 66, 4);
/** By hole and row. */
const tokens = memory.data(64 * 1024);
const starts = memory.data(4 * 64 * 1024, 4);
const ends = memory.data(4 * 64 * 1024, 4);
const xs = memory.data(8 * 1024, 8);
const ys = memory.data(8 * 1024, 8);

/** The tokens of `plugins/shared/json/cursor.ts` that are found here. */
enum Token {
  /** Left to TypeScript. */
  absent = 0,
  nothing = 1,
  falsehood = 2,
  truth = 3,
  integer = 4,
  double = 5,
  text = 6,
}

const quote: u8 = 34;
const minus: u8 = 45;
const point: u8 = 46;
const zero: u8 = 48;
const comma: u8 = 44;
const opening: u8 = 91;
const closing: u8 = 93;
const backslash: u8 = 92;

let passed: u32 = 0;

export function textAt(): usize {
  return text;
}
export function runsAt(): usize {
  return runs;
}
export function runEndsAt(): usize {
  return runEnds;
}
export function tokensAt(): usize {
  return tokens;
}
export function startsAt(): usize {
  return starts;
}
export function endsAt(): usize {
  return ends;
}
export function xsAt(): usize {
  return xs;
}
export function ysAt(): usize {
  return ys;
}
/** The offset behind the last feature that was read. */
export function passedBytes(): u32 {
  return passed;
}

/**
 * Reads features from `from` of the text on, at most `most`.
 * @param size bytes of the text
 * @param holes values in a feature; the one with the number `coordinates` is a position
 * @param stop the offset at which, or behind which, the last one ends
 * @returns how many they are
 */
export function readFeatures(from: u32, size: u32, holes: u32, coordinates: u32, most: u32, stop: u32): u32 {
  const limit = text + size;
  let at = text + from;
  for (let row: u32 = 0; row < most; row++) {
    for (let hole: u32 = 0; hole < holes && at !== 0; hole++) {
      at = behindRun(at, hole);
      if (at === 0) break;
      at = hole === coordinates ? behindPosition(at, row) : behindValue(at, limit, hole, row);
    }
    if (at !== 0) at = behindRun(at, holes);
    // What is behind the end is of an earlier text.
    if (at === 0 || at > limit) return row;
    passed = <u32>(at - text);
    if (passed >= stop) return row + 1;
  }
  return most;
}

/** The end of the constant text before a hole, if it is at `at`; else 0. */
function behindRun(at: usize, hole: u32): usize {
  let run = runs + load<u32>(runEnds + 4 * <usize>hole);
  const end = runs + load<u32>(runEnds + 4 * <usize>hole, 4);
  let place = at;
  for (; run + 8 <= end; run += 8, place += 8) if (load<u64>(run) !== load<u64>(place)) return 0;
  const rest = end - run;
  if (rest === 0) return place;
  const mask = ~(<u64>0) >> (64 - 8 * <u64>rest);
  return (load<u64>(run) & mask) === (load<u64>(place) & mask) ? place + rest : 0;
}

/** The end of the value at `at`, which is listed; 0 if it is left to TypeScript. */
function behindValue(at: usize, limit: usize, hole: u32, row: u32): usize {
  const byte = load<u8>(at);
  let token = Token.absent;
  let end = at;
  if (byte === quote) {
    token = Token.text;
    end = behindText(at + 1, limit);
  } else if (byte === minus || <u32>byte - zero < 10) {
    end = behindNumber(at);
    token = isInteger ? Token.integer : Token.double;
  } else {
    const word = load<u32>(at);
    // "null", "true", "fals"
    if (word === 0x6c6c756e) token = Token.nothing;
    else if (word === 0x65757274) token = Token.truth;
    else if (word === 0x736c6166 && load<u8>(at, 4) === 101) token = Token.falsehood;
    else return 0;
    end = at + (token === Token.falsehood ? 5 : 4);
  }
  if (end === 0) return 0;
  const index = <usize>(hole * maxRows + row);
  store<u8>(tokens + index, token);
  store<u32>(starts + 4 * index, <u32>(at - text));
  store<u32>(ends + 4 * index, <u32>(end - text));
  return end;
}

/** The end of a text behind its closing quote; 0 if it has a backslash or a control character. */
function behindText(from: usize, limit: usize): usize {
  for (let at = from; at < limit; at += 16) {
    const bytes = v128.load(at);
    const odd = v128.or(i8x16.eq(bytes, i8x16.splat(backslash)), i8x16.lt_u(bytes, i8x16.splat(32)));
    const found = i8x16.bitmask(v128.or(odd, i8x16.eq(bytes, i8x16.splat(quote))));
    if (found === 0) continue;
    const end = at + ctz(found);
    return load<u8>(end) === quote ? end + 1 : 0;
  }
  return 0;
}

/** Whether the last number has digits only. */
let isInteger: bool = false;

/** The end of a number (RFC 8259, section 6); 0 if it is none. */
function behindNumber(from: usize): usize {
  const isNegative = load<u8>(from) === minus;
  const start = from + <usize>isNegative;
  let at = digitsEnd(start);
  const startsWithZero = load<u8>(start) === zero;
  if (at === start || (startsWithZero && at > start + 1)) return 0;
  isInteger = !(isNegative && startsWithZero);
  if (load<u8>(at) === point) {
    isInteger = false;
    const decimals = at + 1;
    at = digitsEnd(decimals);
    if (at === decimals) return 0;
  }
  if ((load<u8>(at) | 32) === 101) {
    isInteger = false;
    at++;
    if (load<u8>(at) === minus || load<u8>(at) === 43) at++;
    const exponent = at;
    at = digitsEnd(exponent);
    if (at === exponent) return 0;
  }
  return at;
}

function skipBlanks(from: usize): usize {
  let at = from;
  while (load<u8>(at) === 32) at++;
  return at;
}

/** The end of an array of two coordinates; 0 if it is left to TypeScript. */
function behindPosition(from: usize, row: u32): usize {
  if (load<u8>(from) !== opening) return 0;
  const x = skipBlanks(from + 1);
  let at = behindNumber(x);
  if (at === 0 || !readsDecimal(x, at)) return 0;
  store<f64>(xs + 8 * <usize>row, readDouble);
  at = skipBlanks(at);
  if (load<u8>(at) !== comma) return 0;
  const y = skipBlanks(at + 1);
  at = behindNumber(y);
  if (at === 0 || !readsDecimal(y, at)) return 0;
  store<f64>(ys + 8 * <usize>row, readDouble);
  at = skipBlanks(at);
  return load<u8>(at) === closing ? at + 1 : 0;
}
