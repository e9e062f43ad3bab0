import { firstMarkedByte, highBits } from "./byte-words.js";
import { DataViewCache } from "./data-view.js";
import { powersOfTen } from "./exact-doubles.js";

const [minus, point, zero] = [0x2d, 0x2e, 0x30];
/**
 * Numbers of this many digits, and powers of ten up to this exponent, are exact in a double, so their quotient is the
 * nearest double.
 */
const maxExactDigits = 15;
/** Number of digits that 32 bits hold exactly; adding a digit is faster in 32 bits than in a double. */
const maxInt32Digits = 9;
/** By whether there is a minus. */
const signFactors = Float64Array.of(1, -1);
/** Without these bits, the byte of a digit is its value; four times. */
const zeros = 0x30303030;
/** Added to numbers up to 9 it leaves the highest bits of four bytes as they are. */
const digitCheckMask = 0x76767676;
/** Bytes of a short decimal: a minus, up to three digits, the point, and eight more. */
const maxShortBytes = 13;

const viewCache = new DataViewCache();

/** The number of leading digits in a word of four bytes; `zeros` have been subtracted from the word. */
function countLeadingDigits(word: number): number {
  const others = (word | (word + digitCheckMask)) & highBits;
  return others === 0 ? 4 : firstMarkedByte(others);
}

/** The number formed by the first `count` digits in a word. */
function digitsToNumber(word: number, count: number): number {
  // The first digit is in the lowest byte, so zeros are shifted in before it. A shift by 32 would have no effect.
  const digits = count === 0 ? 0 : word << (32 - 8 * count);
  const pairs = (Math.imul(digits, 10) + (digits >>> 8)) & 0x00ff00ff;
  return Math.imul(pairs & 0xff, 100) + (pairs >>> 16);
}

/**
 * Parses the decimal at `bytes[from]` into `numbers[at]`, which avoids allocating a number object; most coordinates
 * have this form. The decimal ends at `to` or at the first byte that does not belong to it, which may start an
 * exponent.
 * @returns the end of the decimal; 0 if there is none, if it has a superfluous leading zero, or if it has more digits
 * than are exact
 */
export function parsePlainDecimal(
  bytes: Uint8Array,
  from: number,
  to: number,
  numbers: Float64Array,
  at: number,
): number {
  if (from + maxShortBytes > bytes.length) return parseLongDecimal(bytes, from, to, numbers, at);
  const view = viewCache.of(bytes);
  // The sign and length of a coordinate are unpredictable, so the code reads four digits at once, without a branch for
  // either.
  const negative = ((bytes[from]! ^ minus) - 1) >>> 31;
  const start = from + negative;
  const first = view.getInt32(start, true) ^ zeros;
  const places = countLeadingDigits(first);
  const pointAt = start + places;
  if (places === 0 || places === 4 || pointAt > to || (places > 1 && bytes[start] === zero))
    return parseLongDecimal(bytes, from, to, numbers, at);
  if (pointAt === to || bytes[pointAt] !== point) {
    numbers[at] = digitsToNumber(first, places) * signFactors[negative]!;
    return pointAt;
  }
  const decimalsAt = pointAt + 1;
  const second = view.getInt32(decimalsAt, true) ^ zeros;
  let count = countLeadingDigits(second);
  let decimals = digitsToNumber(second, count);
  if (count === 4) {
    const third = view.getInt32(decimalsAt + 4, true) ^ zeros;
    const more = countLeadingDigits(third);
    if (more === 4) return parseLongDecimal(bytes, from, to, numbers, at);
    decimals = decimals * powersOfTen[more]! + digitsToNumber(third, more);
    count += more;
  }
  const end = decimalsAt + count;
  if (count === 0 || end > to) return parseLongDecimal(bytes, from, to, numbers, at);
  const power = powersOfTen[count]!;
  numbers[at] = ((digitsToNumber(first, places) * power + decimals) / power) * signFactors[negative]!;
  return end;
}

/** Like `parsePlainDecimal`, digit by digit. */
function parseLongDecimal(bytes: Uint8Array, from: number, to: number, numbers: Float64Array, at: number): number {
  const start = bytes[from] === minus ? from + 1 : from;
  let i = start;
  let whole = 0;
  for (; i < to; i++) {
    const digit = bytes[i]! - zero;
    if (digit < 0 || digit > 9) break;
    whole = (Math.imul(whole, 10) + digit) | 0;
  }
  const places = i - start;
  if (places === 0 || places > maxInt32Digits || (places > 1 && bytes[start] === zero)) return 0;
  let value = whole;
  if (i < to && bytes[i] === point) {
    const first = ++i;
    const middle = Math.min(to, first + maxInt32Digits);
    let decimals = 0;
    for (; i < middle; i++) {
      const digit = bytes[i]! - zero;
      if (digit < 0 || digit > 9) break;
      decimals = (Math.imul(decimals, 10) + digit) | 0;
    }
    value = whole * powersOfTen[i - first]! + decimals;
    if (i === middle) {
      for (; i < to; i++) {
        const digit = bytes[i]! - zero;
        if (digit < 0 || digit > 9) break;
        value = value * 10 + digit;
      }
    }
    if (i === first || places + i - first > maxExactDigits) return 0;
    value /= powersOfTen[i - first]!;
  }
  numbers[at] = start > from ? -value : value;
  return i;
}
