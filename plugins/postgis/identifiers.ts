import { cutToBytes } from "../../src/model/index.js";

/** Bytes of a name in PostgreSQL (NAMEDATALEN − 1). */
export const longestIdentifier = 63;

/** A text as SQL takes it, with `standard_conforming_strings` on. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A schema and a table that are written with a point between them, for names that a point would tell wrong. */
const qualified = /^"((?:[^"]|"")+)"\."((?:[^"]|"")+)"$/;

/** The parts of `"a.b"."c"`; null of any other name. */
export function qualifiedParts(name: string): readonly [schema: string, table: string] | null {
  const found = qualified.exec(name);
  return found && [found[1]!.replaceAll('""', '"'), found[2]!.replaceAll('""', '"')];
}

/** What a table for a layer of this name is called, or, with a point, a schema and a table of it. */
export function tableNameOf(name: string): string {
  const clean = name.replaceAll("\0", "") || "layer";
  const parts = qualifiedParts(clean) ?? [clean.split(".", 1)[0]!, clean.slice(clean.indexOf(".") + 1)];
  const fits = (text: string) => text !== "" && Buffer.byteLength(text) <= longestIdentifier;
  if (fits(clean) || parts.every(fits)) return clean;
  return cutToBytes(clean, longestIdentifier);
}

/** The name, or one with a number, that is not taken; within the bytes that a name may have. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 0; ; n++) {
    const suffix = n === 0 ? "" : `_${n}`;
    const name = cutToBytes(wanted, longestIdentifier - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}
