/** Quotes any name as an SQL identifier (ISO/IEC 9075-2, 5.2, delimited identifier). */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Quotes text as an SQL literal (ISO/IEC 9075-2, 5.3, character string literal). */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
