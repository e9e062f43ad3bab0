/** Four bytes of text at once, as the 32 bits that a little-endian view has of them. */

/** The lowest bit of each byte. */
export const lowBits = 0x01010101;
/** The highest bit of each byte: what the tests of four bytes mark those with that they look for. */
export const highBits = 0x80808080 | 0;

/** Which of the four is the first that is marked; there must be one. */
export const firstMarkedByte = (marks: number): number => (31 - Math.clz32(marks & -marks)) >> 3;
