import type { SourceFile } from "../../../src/plugin/format.js";

const chunkBytes = 1 << 20;
/** The maximum length of a prefix. */
const maxPrefixLength = 64;
const featureNames = ["Placemark", "GroundOverlay"].map((name) => Buffer.from(name));
/** The byte after the name in a start tag: white space, `/` or `>`. */
const tagNameEnds: readonly number[] = [9, 10, 13, 32, 47, 62];

/**
 * Returns the start of the next feature at or after `from`, −1 for none. Used to continue after damage: a tag in a comment
 * or text is found, too.
 */
export async function findFeature(file: SourceFile, from: number): Promise<number> {
  for (let at = from; at < file.size; at += chunkBytes) {
    const bytes = await file.read(at, chunkBytes + 2 * maxPrefixLength);
    const found = featureNames.map((name) => firstTag(bytes, name)).filter((place) => place >= 0);
    if (found.length > 0) return at + Math.min(...found);
  }
  return -1;
}

/** Returns the start of the first tag with this local name. */
function firstTag(bytes: Buffer, name: Buffer): number {
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) {
    if (!tagNameEnds.includes(bytes[at + name.length] ?? 0)) continue;
    if (bytes[at - 1] === 60) return at - 1;
    const tag = bytes.toString("latin1", Math.max(0, at - maxPrefixLength), at);
    const prefix = /<[\w.-]+:$/.exec(tag);
    if (prefix) return at - prefix[0].length;
  }
  return -1;
}
