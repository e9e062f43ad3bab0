/** A name as SQL takes it, whatever is in it (ISO/IEC 9075-2, 5.2, delimited identifier). */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
