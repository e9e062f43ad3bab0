/** A name in the SQL of OGR. */
export const quoteOgrName = (name: string): string => `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
