/** JSON whose integers a double may not hold exactly, which `JSON.parse` would round. */

import { replaceLongIntegers } from "./long-integers.js";

/** Integers that a double does not hold exactly have at least this many digits. */
const longDigits = 16;
/** Not in a fraction, but perhaps in a text. */
const longInteger = /(?<![\d.])\d{16}/;

/** Begins no text of a document, since it is another one in each process. */
const integerMark = `${crypto.randomUUID()}:`;
const markedInteger = new RegExp(`"${integerMark}(-?\\d+)"`, "g");

/** @param read gives the value of an integer of 16 digits or more @throws SyntaxError */
function parseLongIntegers(text: string, read: (digits: string) => unknown): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  const marked = replaceLongIntegers(text, longDigits, (digits) => `"${integerMark}${digits}"`);
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(integerMark) ? read(value.slice(integerMark.length)) : value,
  );
}

/** A number if that is exact, else a bigint. */
function exactInteger(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Integers beyond 2^53 become bigints, of any length. @throws SyntaxError */
export const parseWithAnyBigints = (text: string): unknown => parseLongIntegers(text, exactInteger);

/** Integers beyond 2^53 become texts. @throws SyntaxError */
export const parseExactly = (text: string): unknown =>
  parseLongIntegers(text, (digits) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : digits));

/** Whether JSON may have integers that `JSON.parse` would round. */
export const mayHaveLongIntegers = (text: string): boolean => longInteger.test(text);

/** A double of this size or more is written with an exponent, so the digits of such an integer are meant. */
const exponentFrom = 1e21;

/** Whether a double would round an integer, or could not tell it from a rounded one. */
export function isInexactInteger(digits: string): boolean {
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return false;
  return Math.abs(number) < exponentFrom || !Number.isFinite(number) || BigInt(number) !== BigInt(digits);
}

/**
 * Inexact integers become bigints; one from 10^21 that a double holds stays a number, since it is the same value in the
 * notation of doubles (1e+21). @throws SyntaxError
 */
export const parseKeepingIntegers = (text: string): unknown =>
  parseLongIntegers(text, (digits) => (isInexactInteger(digits) ? BigInt(digits) : Number(digits)));

/** Integers between 2^53 and 2^63 become bigints, longer ones texts. @throws SyntaxError */
export const parseWithBigints = (text: string): unknown =>
  parseLongIntegers(text, (digits) => {
    const value = exactInteger(digits);
    return typeof value === "number" || BigInt.asIntN(64, value) === value ? value : digits;
  });

/** JSON of a value that may have bigints, which become numbers. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const marked = JSON.stringify(value, (_, each: unknown) =>
      typeof each === "bigint" ? `${integerMark}${each}` : each,
    );
    return marked.replace(markedInteger, "$1");
  }
}

/** The first inexact integer in JSON; null if there is none. */
export function findInexactInteger(json: string): string | null {
  let found: string | null = null;
  parseLongIntegers(json, (digits) => {
    if (isInexactInteger(digits)) found ??= digits;
    return null;
  });
  return found;
}
