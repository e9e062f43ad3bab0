/** What of the arithmetic of doubles is exact: powers of ten, and what a product loses when it is rounded. */

/** Powers of ten that a double holds exactly. */
export const powersOfTen = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));

/** Veltkamp's constant, 2^27 + 1: splits a double into halves whose products are exact. */
const veltkampConstant = 134217729;

/** What `a * b` lost when it was rounded to `product`, exactly (Dekker 1971). No overflow below 1e290. */
export function multiplicationError(a: number, b: number, product: number): number {
  let c = veltkampConstant * a;
  const aHigh = c - (c - a);
  const aLow = a - aHigh;
  c = veltkampConstant * b;
  const bHigh = c - (c - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}
