import { truncateUtf8 } from "../../src/model/index.js";

/** Bytes of a name in PostgreSQL (NAMEDATALEN − 1). */
export const maxIdentifierBytes = 63;

/** A text as SQL takes it, with `standard_conforming_strings` on. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A schema and a table that are written with a point between them, for names that a point would tell wrong. */
const qualifiedNamePattern = /^"((?:[^"]|"")+)"\."((?:[^"]|"")+)"$/;

/** The parts of `"a.b"."c"`; null of any other name. */
export function parseQualifiedName(name: string): readonly [schema: string, table: string] | null {
  const found = qualifiedNamePattern.exec(name);
  return found && [found[1]!.replaceAll('""', '"'), found[2]!.replaceAll('""', '"')];
}

/** What a table for a layer of this name is called, or, with a point, a schema and a table of it. */
export function toTableName(name: string): string {
  const clean = name.replaceAll("\0", "") || "layer";
  const parts = parseQualifiedName(clean) ?? [clean.split(".", 1)[0]!, clean.slice(clean.indexOf(".") + 1)];
  const fits = (text: string) => text !== "" && Buffer.byteLength(text) <= maxIdentifierBytes;
  if (fits(clean) || parts.every(fits)) return clean;
  return truncateUtf8(clean, maxIdentifierBytes);
}

/** The name, or one with a number, that is not taken; within the bytes that a name may have. */
export function uniqueName(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 0; ; n++) {
    const suffix = n === 0 ? "" : `_${n}`;
    const name = truncateUtf8(wanted, maxIdentifierBytes - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}
