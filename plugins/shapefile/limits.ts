/** Maximum number of columns of a .dbf: the length of its header has 16 bits, and each column takes 32 bytes. */
export const maxFields = Math.floor((65_535 - 33) / 32);
