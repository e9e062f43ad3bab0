import { stringEnd } from "./object-members.js";

/** An integer beyond 10^21 has more digits; programs write a double of that size with an exponent. */
const veryLongNumber = /\d{22,}/g;
/** Numbers with more digits exceed the range of a double. */
const maxDoubleDigits = 309;

/**
 * Replaces integers beyond 10^21 that a double would round by a number that no feature may have: after parsing, they
 * cannot be told from numbers with an exponent. Integers from 2^53 on show by their size that they may have been rounded.
 */
export function markRoundedIntegers(text: string): string {
  let marked = "";
  let copied = 0;
  let nextQuote = -1;
  let outside = 0;
  for (const { 0: digits, index } of text.matchAll(veryLongNumber)) {
    for (;;) {
      if (nextQuote < outside) nextQuote = indexOrEnd(text, outside);
      if (nextQuote > index) break;
      outside = stringEnd(text, nextQuote);
    }
    if (outside > index) continue;
    outside = index + digits.length;
    const from = text[index - 1] === "-" ? index - 1 : index;
    if (/[.eE+]/.test(text[from - 1] ?? "") || /[.eE]/.test(text[outside] ?? "") || !isRounded(digits)) continue;
    marked += `${text.slice(copied, from)}1e999`;
    copied = outside;
  }
  return marked + text.slice(copied);
}

function indexOrEnd(text: string, from: number): number {
  const at = text.indexOf('"', from);
  return at < 0 ? text.length : at;
}

function isRounded(digits: string): boolean {
  const number = Number(digits);
  return digits.length <= maxDoubleDigits && Number.isFinite(number) && BigInt(digits) !== BigInt(number);
}
