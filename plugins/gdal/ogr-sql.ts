/** A name in the SQL of OGR. */
export const quoted = (name: string): string => `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
