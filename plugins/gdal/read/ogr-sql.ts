/** Quotes an identifier for OGR SQL. */
export const quoteOgrName = (name: string): string => `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
