/** What tells the structure of a JSON text from its bytes: strings and brackets, and what can be passed over. */

/** Bytes that mean something outside of strings. */
export const quoteClass = 1;
export const openingClass = 2;
const closingClass = 3;
export const byteClasses = new Uint8Array(256);
byteClasses[34] = quoteClass;
byteClasses[91] = byteClasses[123] = openingClass;
byteClasses[93] = byteClasses[125] = closingClass;

/**
 * The first word from `from` on with a quote, a bracket or a letter in it: coordinates are mostly digits, which this
 * passes at twice the speed. Of the bytes 0 to 127 it is those from 64 on that are letters and brackets; the quote is
 * found by the zero byte that it leaves (Hacker's Delight, 6-1).
 */
export function skipPlainWords(words: Int32Array, from: number): number {
  let w = from;
  for (; w < words.length; w++) {
    const word = words[w]!;
    if ((word & 0x40404040) !== 0) break;
    const zero = word ^ 0x22222222;
    if (((zero - 0x01010101) & ~zero & 0x80808080) !== 0) break;
  }
  return w;
}

/** The place of the quote that ends the string, at or beyond the block's length where the string goes on. */
export function findClosingQuote(block: Buffer, from: number): number {
  const { length } = block;
  let at = from;
  while (at < length) {
    const byte = block[at]!;
    if (byte === 34) return at;
    at += byte === 92 ? 2 : 1;
  }
  return at;
}
