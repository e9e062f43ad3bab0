import { truncateText } from "../../src/model/index.js";

/** Maximum size of an identifier (NAMEDATALEN − 1). */
export const maxIdentifierBytes = 63;

/** `"schema"."table"`, for names that contain a dot. */
const qualifiedNamePattern = /^"((?:[^"]|"")+)"\."((?:[^"]|"")+)"$/;

/** The parts of `"a.b"."c"`; null for any other name. */
export function parseQualifiedName(name: string): readonly [schema: string, table: string] | null {
  const found = qualifiedNamePattern.exec(name);
  return found && [found[1]!.replaceAll('""', '"'), found[2]!.replaceAll('""', '"')];
}

/** Table name for a layer; a dot separates schema and table. */
export function toTableName(name: string): string {
  const clean = name.replaceAll("\0", "") || "layer";
  const parts = parseQualifiedName(clean) ?? [clean.split(".", 1)[0]!, clean.slice(clean.indexOf(".") + 1)];
  const fits = (text: string) => text !== "" && Buffer.byteLength(text) <= maxIdentifierBytes;
  if (fits(clean) || parts.every(fits)) return clean;
  return truncateText(clean, maxIdentifierBytes);
}

/** Appends a number until the name is free; keeps to the maximum size. */
export function uniqueName(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 0; ; n++) {
    const suffix = n === 0 ? "" : `_${n}`;
    const name = truncateText(wanted, maxIdentifierBytes - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}
