/** Tests of four bytes of text at once, in a 32-bit word of a little-endian view. */

/** The lowest bit of each byte. */
export const lowBits = 0x01010101;
/** The highest bit of each byte, which the tests of four bytes set in each matching byte. */
export const highBits = 0x80808080 | 0;

/** The index of the first marked byte of the four; at least one must be marked. */
export const firstMarkedByte = (marks: number): number => (31 - Math.clz32(marks & -marks)) >> 3;
