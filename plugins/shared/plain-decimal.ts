const [minus, point, zero] = [0x2d, 0x2e, 0x30];
/** As many digits, and powers of ten, are exact in a double, so that their quotient is the nearest one. */
const mostDigits = 15;
/** As many digits are exact in 32 bits, in which a digit is added in fewer cycles than in a double. */
const mostInInt = 9;
const powers = Float64Array.from({ length: mostDigits + 1 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Puts the decimal at `bytes[from]`, such as most coordinates are, into `numbers[at]`, which makes no object of it. It
 * ends at `to` or at the first byte that is no part of it, which may be an exponent's.
 * @returns where it ends; 0 where it is none, begins with a zero too many, or has more digits than are exact
 */
export function putDecimal(bytes: Uint8Array, from: number, to: number, numbers: Float64Array, at: number): number {
  const start = bytes[from] === minus ? from + 1 : from;
  let i = start;
  let whole = 0;
  for (; i < to; i++) {
    const digit = bytes[i]! - zero;
    if (digit < 0 || digit > 9) break;
    whole = (Math.imul(whole, 10) + digit) | 0;
  }
  const places = i - start;
  if (places === 0 || places > mostInInt || (places > 1 && bytes[start] === zero)) return 0;
  let value = whole;
  if (i < to && bytes[i] === point) {
    const first = ++i;
    const middle = Math.min(to, first + mostInInt);
    let decimals = 0;
    for (; i < middle; i++) {
      const digit = bytes[i]! - zero;
      if (digit < 0 || digit > 9) break;
      decimals = (Math.imul(decimals, 10) + digit) | 0;
    }
    value = whole * powers[i - first]! + decimals;
    if (i === middle) {
      for (; i < to; i++) {
        const digit = bytes[i]! - zero;
        if (digit < 0 || digit > 9) break;
        value = value * 10 + digit;
      }
    }
    if (i === first || places + i - first > mostDigits) return 0;
    value /= powers[i - first]!;
  }
  numbers[at] = start > from ? -value : value;
  return i;
}
