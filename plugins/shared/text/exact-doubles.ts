/** Exact parts of double arithmetic: powers of ten, and the rounding error of a product. */

/** Powers of ten that a double holds exactly. */
export const powersOfTen = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));

/** Veltkamp's constant, 2^27 + 1: splits a double into halves whose products are exact. */
const veltkampConstant = 134217729;

/** The exact rounding error of `product`, the rounded `a * b` (Dekker 1971). No overflow below 1e290. */
export function multiplicationError(a: number, b: number, product: number): number {
  let c = veltkampConstant * a;
  const aHigh = c - (c - a);
  const aLow = a - aHigh;
  c = veltkampConstant * b;
  const bHigh = c - (c - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}
