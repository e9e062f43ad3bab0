/** Finds the structure of JSON text in its bytes: strings, brackets, and text to skip. */

/** Classes of bytes that are significant outside strings. */
export const quoteClass = 1;
export const openingClass = 2;
const closingClass = 3;
export const byteClasses = new Uint8Array(256);
byteClasses[34] = quoteClass;
byteClasses[91] = byteClasses[123] = openingClass;
byteClasses[93] = byteClasses[125] = closingClass;

/**
 * The first word from `from` on that contains a quote, a bracket or a letter. Coordinates are mostly digits, which this
 * skips at twice the speed of a byte loop. Among the bytes 0 to 127, letters and brackets are 64 or above; a quote
 * shows as a zero byte (Hacker's Delight, 6-1).
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

/** The offset of the closing quote; the block's length or more if the string continues beyond the block. */
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
