/** Quotes any name as an SQL identifier (ISO/IEC 9075-2, 5.2, delimited identifier). */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** An SQL string literal (ISO/IEC 9075-2, 5.3); in PostgreSQL for `standard_conforming_strings = on`. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;
