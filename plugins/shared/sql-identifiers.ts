/** Quotes any name as an SQL identifier (ISO/IEC 9075-2, 5.2, delimited identifier). */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
