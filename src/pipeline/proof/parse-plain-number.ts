const [zero, nine, minus, point] = [0x30, 0x39, 0x2d, 0x2e];
/** Integers of so many digits are exact in a double, so that one division rounds correctly. */
const maxDigits = 15;
const powersOfTen = Float64Array.from({ length: maxDigits + 1 }, (_, n) => 10 ** n);

/**
 * Parses `bytes[from … to]` as a decimal without an exponent, as `Number` does.
 * @returns NaN if it is none, or if it has more digits than are exact
 */
export function parsePlainNumber(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  const isNegative = bytes[at] === minus;
  if (isNegative) at++;
  let mantissa = 0;
  let digits = 0;
  let pointAt = -1;
  for (; at < to; at++) {
    const byte = bytes[at]!;
    if (byte >= zero && byte <= nine) {
      mantissa = 10 * mantissa + byte - zero;
      digits++;
    } else if (byte === point && pointAt < 0) pointAt = at;
    else return Number.NaN;
  }
  if (digits === 0 || digits > maxDigits) return Number.NaN;
  const size = pointAt < 0 ? mantissa : mantissa / powersOfTen[to - pointAt - 1]!;
  return isNegative ? -size : size;
}
