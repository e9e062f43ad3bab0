import type { SourceFile } from "../../../src/plugin/format.js";
import { gpxTypes } from "../elements.js";

const chunkBytes = 1 << 20;
/** The byte after the name in a start tag: white space, `/` or `>`. */
const tagNameEnds: readonly number[] = [9, 10, 13, 32, 47, 62];

/**
 * Returns the start of the next wpt, rte or trk at or after `from`, with the prefix of the root element; −1 for none. Used
 * to continue after damage: a tag in a comment or text is found, too.
 */
export async function findFeature(file: SourceFile, root: string, from: number): Promise<number> {
  const prefix = root.includes(":") ? root.slice(0, root.indexOf(":") + 1) : "";
  const tags = gpxTypes.map((name) => Buffer.from(`<${prefix}${name}`));
  const longest = prefix.length + 5;
  for (let at = from; at < file.size; at += chunkBytes) {
    const bytes = await file.read(at, chunkBytes + longest);
    const found = tags.map((tag) => firstTag(bytes, tag)).filter((place) => place >= 0);
    if (found.length > 0) return at + Math.min(...found);
  }
  return -1;
}

function firstTag(bytes: Buffer, tag: Buffer): number {
  for (let at = bytes.indexOf(tag); at >= 0; at = bytes.indexOf(tag, at + 1)) {
    if (tagNameEnds.includes(bytes[at + tag.length] ?? 0)) return at;
  }
  return -1;
}
