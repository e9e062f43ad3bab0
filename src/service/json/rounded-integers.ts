import { replaceLongIntegers } from "../../model/long-integers.js";

/** An integer beyond 10^21 has more digits; programs write a double of that size with an exponent. */
const digitsFrom = 22;
/** Numbers with more digits exceed the range of a double. */
const maxDoubleDigits = 309;

/**
 * Replaces integers beyond 10^21 that a double would round by a number that no feature may have: after parsing, they
 * cannot be told from numbers with an exponent. Integers from 2^53 on show by their size that they may have been rounded.
 */
export const markRoundedIntegers = (json: string): string =>
  replaceLongIntegers(json, digitsFrom, (integer) => (isRounded(integer) ? "1e999" : integer));

function isRounded(integer: string): boolean {
  const number = Number(integer);
  return integer.length <= maxDoubleDigits && Number.isFinite(number) && BigInt(integer) !== BigInt(number);
}
