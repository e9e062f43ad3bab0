/** A name as SQL takes it, whatever is in it (ISO/IEC 9075-2, 5.2, delimited identifier). */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
