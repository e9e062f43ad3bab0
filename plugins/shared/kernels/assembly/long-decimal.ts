/** Doubles nearest to decimals of 16 to 19 digits, as `composeLongDecimal` in `plugins/shared/text/parse-number.ts` finds them. */

/** Powers of ten that a double holds exactly. */
export const powersOfTen: StaticArray<f64> = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
];
export const maxPower: u32 = 22;

/** Veltkamp's constant, 2^27 + 1: splits a double into halves whose products are exact. */
const veltkampConstant: f64 = 134217729;

/** The exact rounding error of `product`, the rounded `a * b` (Dekker 1971). */
function multiplicationError(a: f64, b: f64, product: f64): f64 {
  const scaledA = veltkampConstant * a;
  const highA = scaledA - (scaledA - a);
  const lowA = a - highA;
  const scaledB = veltkampConstant * b;
  const highB = scaledB - (scaledB - b);
  const lowB = b - highB;
  return lowA * lowB - (product - highA * highB - lowA * highB - highA * lowB);
}

/**
 * @param head the first fifteen digits. @param tail the other ones, `extra` of them
 * @returns NaN if two doubles are too nearly as near, or if there are fewer decimals than digits in `tail`
 */
export function composeLongDecimal(head: f64, tail: f64, extra: u32, decimals: u32): f64 {
  if (extra > decimals || decimals > maxPower) return NaN;
  const divisor = unchecked(powersOfTen[decimals - extra]);
  const quotient = head / divisor;
  const product = quotient * divisor;
  const remainder = head - product - multiplicationError(quotient, divisor, product);
  const rest = remainder / divisor + tail / unchecked(powersOfTen[decimals]);
  // Both parts together are within 2^-97 of the value.
  const doubt = quotient * 2.524354896707238e-29;
  const value = quotient + (rest - doubt);
  return value === quotient + (rest + doubt) ? value : NaN;
}
