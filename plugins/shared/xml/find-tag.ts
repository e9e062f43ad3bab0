import type { SourceFile } from "../../../src/plugin/format.js";

const chunkBytes = 1 << 20;
/** The byte after the name in a start tag: white space, `/` or `>`. */
const tagNameEnds: readonly number[] = [9, 10, 13, 32, 47, 62];

/**
 * Finds the first start tag of one of these elements, names with their prefixes, at or after `from`. Used to continue after
 * damage: a tag in a comment or text is found, too.
 * @returns its first byte and the number of its name; null for none
 */
export async function findTag(
  file: SourceFile,
  names: readonly string[],
  from: number,
): Promise<{ readonly byte: number; readonly name: number } | null> {
  const tags = names.map((name) => Buffer.from(`<${name}`));
  const longest = Math.max(...tags.map(({ length }) => length)) + 1;
  for (let at = from; at < file.size; at += chunkBytes) {
    const bytes = await file.read(at, chunkBytes + longest);
    let byte = -1;
    let name = -1;
    for (const [index, tag] of tags.entries()) {
      const place = firstTag(bytes, tag);
      if (place < 0 || (byte >= 0 && place >= byte)) continue;
      byte = place;
      name = index;
    }
    if (byte >= 0) return { byte: at + byte, name };
  }
  return null;
}

function firstTag(bytes: Buffer, tag: Buffer): number {
  for (let at = bytes.indexOf(tag); at >= 0; at = bytes.indexOf(tag, at + 1))
    if (tagNameEnds.includes(bytes[at + tag.length] ?? 0)) return at;
  return -1;
}
