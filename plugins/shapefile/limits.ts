/** Columns of a .dbf: the length of its header stands in 16 bits, 32 bytes a column. */
export const maxFields = Math.floor((65_535 - 33) / 32);
