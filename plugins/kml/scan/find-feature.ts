import type { SourceFile } from "../../../src/plugin/format.js";

const chunkBytes = 1 << 20;
/** A prefix is at most so long. */
const maxPrefixLength = 64;
const featureNames = ["Placemark", "GroundOverlay"].map((name) => Buffer.from(name));
/** What follows the name in a tag that begins: white space, `/` or `>`. */
const tagNameEnds: readonly number[] = [9, 10, 13, 32, 47, 62];

/**
 * Where from `from` on the next feature begins, −1 where none does. For reading on after damage: one in a comment or a
 * text is found, too.
 */
export async function findFeature(file: SourceFile, from: number): Promise<number> {
  for (let at = from; at < file.size; at += chunkBytes) {
    const bytes = await file.read(at, chunkBytes + 2 * maxPrefixLength);
    const found = featureNames.map((name) => firstTag(bytes, name)).filter((place) => place >= 0);
    if (found.length > 0) return at + Math.min(...found);
  }
  return -1;
}

/** Where the first tag of this local name begins. */
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
