import { isInexactInteger } from "../../model/exact-json.js";
import { replaceLongIntegers } from "../../model/long-integers.js";

/** An integer beyond 10^21 has more digits; programs write a double of that size with an exponent. */
const digitsFrom = 22;

/**
 * Replaces integers beyond 10^21 that a double would round by a number that no feature may have, because the parser
 * returns the same double for them and for numbers with an exponent. The validation finds smaller ones by their size.
 */
export const markRoundedIntegers = (json: string): string =>
  replaceLongIntegers(json, digitsFrom, (integer) => (isInexactInteger(integer) ? "1e999" : integer));
