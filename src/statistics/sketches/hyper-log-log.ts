/** The HyperLogLog whose registers the kernel of counts fills. */

/** 2^14 registers: a standard error of 1.04 / √2^14. */
const precision = 14;
export const registerCount = 1 << precision;
/** Bits of a hash behind the index. */
const restBits = 32;

/** Relative standard error of an estimate (P. Flajolet et al., "HyperLogLog", 2007, section 1). */
export const distinctStandardError = 1.04 / Math.sqrt(registerCount);

/**
 * Estimates the number of distinct values from registers (O. Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches", 2017, algorithm 6: unbiased in all ranges).
 */
export function estimateDistinct(registers: Uint8Array): number {
  const counts = new Array<number>(restBits + 2).fill(0);
  for (const register of registers) counts[register]!++;
  let z = registerCount * tau(1 - counts[restBits + 1]! / registerCount);
  for (let k = restBits; k >= 1; k--) z = 0.5 * (z + counts[k]!);
  z += registerCount * sigma(counts[0]! / registerCount);
  return registerCount ** 2 / (2 * Math.LN2 * z);
}

function sigma(given: number): number {
  if (given === 1) return Number.POSITIVE_INFINITY;
  let x = given;
  let y = 1;
  let z = x;
  for (let previous = Number.NaN; z !== previous; ) {
    x *= x;
    previous = z;
    z += x * y;
    y += y;
  }
  return z;
}

function tau(given: number): number {
  if (given === 0 || given === 1) return 0;
  let x = given;
  let y = 1;
  let z = 1 - x;
  for (let previous = Number.NaN; z !== previous; ) {
    x = Math.sqrt(x);
    previous = z;
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
  }
  return z / 3;
}
