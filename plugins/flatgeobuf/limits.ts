/** A property names its column by a 16-bit number. */
export const maxColumns = 1 << 16;
