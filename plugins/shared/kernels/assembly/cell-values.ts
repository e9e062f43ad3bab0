/**
 * What the cells of a table of text are, and the numbers in them. Cells of rarer forms are left to TypeScript. Behind a cell
 * is a delimiter, line end or quote, which is no digit, and at least eight bytes can be read.
 */
import { composeLongDecimal, maxPower, powersOfTen } from "./long-decimal.js";
import { Temporal, temporalType } from "./temporal.js";

/** The numbers of `CellTypeFlag` and `NotationFlag` in `plugins/shared/table/columns`. */
export enum CellFlag {
  /** Left to TypeScript. */
  unknown = 0,
  boolean = 1,
  int32 = 2,
  int64 = 4,
  double = 16,
  date = 64,
  time = 128,
  datetime = 256,
  three = 1024,
}

const zero: u8 = 48;
const minus: u8 = 45;
const point: u8 = 46;

/** Digits of which an integer below 2^53 consists, and an integer below 2^31. */
const maxExactDigits: u32 = 15;
const maxShortDigits: u32 = 9;
/** Digits of the longest decimals that are read. */
const maxDigits: u32 = 19;

/** Without these bits, the byte of a digit is its value; eight times. */
const zeros: u64 = ((<u64>0x30303030) << 32) | 0x30303030;
/** Added to numbers up to 9 it leaves the highest bits of eight bytes as they are. */
const digitCheck: u64 = ((<u64>0x76767676) << 32) | 0x76767676;
const highBits: u64 = ((<u64>0x80808080) << 32) | 0x80808080;

function digitAt(at: usize): u32 {
  return <u32>load<u8>(at) - zero;
}

/** Eight bytes, of which those of digits are their values. */
function wordAt(at: usize): u64 {
  return load<u64>(at) ^ zeros;
}

/** The number of digits with which a word begins. */
function countDigits(word: u64): u32 {
  return <u32>(ctz<u64>(((word + digitCheck) | word) & highBits) >> 3);
}

/** The number that the first `count` digits of a word are, at least one: of pairs, then of all (D. Lemire and others). */
function digitsToNumber(word: u64, count: u32): u32 {
  // The first digit is in the lowest byte, so that zeros are shifted in before it.
  const digits = word << (64 - 8 * <u64>count);
  const pairs = digits * 10 + (digits >> 8);
  const high = (pairs & 0x000000ff000000ff) * 0x000f424000000064;
  const low = ((pairs >> 16) & 0x000000ff000000ff) * 0x0000271000000001;
  return <u32>((high + low) >> 32);
}

/** The end of the digits that begin at `from`. */
export function digitsEnd(from: usize): usize {
  let at = from;
  let count = countDigits(wordAt(at));
  for (; count === 8; count = countDigits(wordAt(at))) at += 8;
  return at + count;
}

/** The flag of a cell that is not empty, as `cellFlags` in `plugins/shared/table/columns/column-format.ts` finds it. */
export function flagOf(from: usize, to: usize, decimal: u8): CellFlag {
  const isNegative = load<u8>(from) === minus;
  const start = from + <usize>isNegative;
  const at = digitsEnd(start);
  const places = <u32>(at - start);
  // A leading zero marks a label.
  const isLabel = places > 1 && load<u8>(start) === zero;
  if (at === to) return places === 0 || isLabel ? CellFlag.unknown : integerFlag(start, places, isNegative);
  if (load<u8>(at) === decimal) {
    const decimals = <u32>(to - at - 1);
    if (isLabel || places + decimals === 0 || digitsEnd(at + 1) !== to) return CellFlag.unknown;
    const mayBeGroup = decimals === 3 && places - 1 < 3 && load<u8>(start) !== zero;
    return mayBeGroup ? CellFlag.three : CellFlag.double;
  }
  if (places === 0) return isTruth(from, to) >= 0 ? CellFlag.boolean : CellFlag.unknown;
  if (isNegative) return CellFlag.unknown;
  switch (temporalType(from, to)) {
    case Temporal.date:
      return CellFlag.date;
    case Temporal.time:
      return CellFlag.time;
    case Temporal.datetime:
      return CellFlag.datetime;
    default:
      return CellFlag.unknown;
  }
}

function integerFlag(start: usize, digits: u32, isNegative: bool): CellFlag {
  if (isNegative && load<u8>(start) === zero) return CellFlag.double;
  if (digits <= maxShortDigits) return CellFlag.int32;
  if (digits > maxExactDigits) return CellFlag.unknown;
  return digitsAt(start, digits) <= <u64>i32.MAX_VALUE + <u64>isNegative ? CellFlag.int32 : CellFlag.int64;
}

/** 1 for `true`, 0 for `false`, −1 for other text; four bytes behind the cell are readable. */
export function isTruth(from: usize, to: usize): i32 {
  const size = to - from;
  const start = load<u32>(from);
  // "true", "fals"
  if (size === 4 && start === 0x65757274) return 1;
  return size === 5 && start === 0x736c6166 && load<u8>(from, 4) === 101 ? 0 : -1;
}

/** The number that so many digits are. */
function digitsAt(from: usize, count: u32): u64 {
  let value: u64 = 0;
  for (let n: usize = 0; n < count; n++) value = value * 10 + digitAt(from + n);
  return value;
}

/** The last numbers that were read. */
export let readDouble: f64 = 0;
export let readInteger: i64 = 0;

/** Reads an integer of at most fifteen digits without superfluous zeros. @returns whether the cell is one */
export function readsInteger(from: usize, to: usize): bool {
  const isNegative = load<u8>(from) === minus;
  const start = from + <usize>isNegative;
  const digits = <u32>(to - start);
  if (digits - 1 >= maxExactDigits || (digits > 1 && load<u8>(start) === zero) || digitsEnd(start) !== to) return false;
  const value = digits < 8 ? <i64>digitsToNumber(wordAt(start), digits) : <i64>digitsAt(start, digits);
  readInteger = isNegative ? -value : value;
  return true;
}

/** Reads a number as `decimalEnd` does. @returns whether the cell is one */
export function readsDecimal(from: usize, to: usize): bool {
  return decimalEnd(from) === to;
}

/**
 * Reads a number with or without decimals. Up to fifteen digits, and the power of ten, are exact doubles, so that their
 * quotient is the nearest double (W. D. Clinger, "How to read floating point numbers accurately", 1990).
 * @returns its end; 0 if there is none. The byte there may belong to it in another form
 */
export function decimalEnd(from: usize): usize {
  const isNegative = load<u8>(from) === minus;
  const start = from + <usize>isNegative;
  const first = wordAt(start);
  const places = countDigits(first);
  if (places > 1 && load<u8>(start) === zero) return 0;
  if (places - 1 >= 7) return places === 8 ? longDecimalEnd(start, isNegative) : 0;
  const at = start + places;
  const value = <f64>digitsToNumber(first, places);
  if (load<u8>(at) !== point) {
    setDouble(value, 0, isNegative);
    return at;
  }
  const second = wordAt(at + 1);
  const decimals = countDigits(second);
  if (decimals - 1 >= 7) return decimals === 8 ? longDecimalEnd(start, isNegative) : 0;
  const digits = value * unchecked(powersOfTen[decimals]) + <f64>digitsToNumber(second, decimals);
  setDouble(digits, decimals, isNegative);
  return at + 1 + decimals;
}

/** Like `decimalEnd`, digit by digit, behind a sign. */
function longDecimalEnd(start: usize, isNegative: bool): usize {
  const at = digitsEnd(start);
  const hasPoint = load<u8>(at) === point;
  const to = hasPoint ? digitsEnd(at + 1) : at;
  const decimals = hasPoint ? <u32>(to - at - 1) : 0;
  if ((hasPoint && decimals === 0) || decimals > maxPower) return 0;
  let head: u64 = 0;
  let tail: u64 = 0;
  let significant: u32 = 0;
  for (let next = start; next < to; next++) {
    const digit = digitAt(next);
    if (next === at || (significant === 0 && digit === 0)) continue;
    significant++;
    if (significant <= maxExactDigits) head = head * 10 + digit;
    else tail = tail * 10 + digit;
  }
  if (significant <= maxExactDigits) {
    setDouble(<f64>head, decimals, isNegative);
    return to;
  }
  if (significant > maxDigits) return 0;
  readDouble = composeLongDecimal(<f64>head, <f64>tail, significant - maxExactDigits, decimals);
  if (Number.isNaN(readDouble)) return 0;
  if (isNegative) readDouble = -readDouble;
  return to;
}

/** @param digits without the point */
function setDouble(digits: f64, decimals: u32, isNegative: bool): void {
  const number = digits / unchecked(powersOfTen[decimals]);
  readDouble = isNegative ? -number : number;
}
