import { createHash } from "node:crypto";
import { type DigestList, digestBytes } from "../../canonical/digest-file.js";

const words = digestBytes / 4;

/** Adds up digests as numbers of 128 bits, so that the sum does not depend on their order. */
function addDigests(sum: Uint32Array, digests: Buffer): void {
  for (let at = 0; at < digests.length; at += digestBytes) {
    let carry = 0;
    for (let word = 0; word < words; word++) {
      const total = sum[word]! + digests.readUInt32LE(at + 4 * word) + carry;
      sum[word] = total % 2 ** 32;
      carry = total >= 2 ** 32 ? 1 : 0;
    }
  }
}

/**
 * The hash of a layer whose features may come back in another order: SHA-256 of the number of its features (32 bits) and the
 * sum of their digests modulo 2¹²⁸, both little-endian.
 */
export function hashDigests(list: DigestList): string {
  const sum = new Uint32Array(words);
  for (const { digests } of list.digestBlocks()) addDigests(sum, digests);
  const bytes = Buffer.alloc(4 + digestBytes);
  bytes.writeUInt32LE(list.rows % 2 ** 32, 0);
  for (const [at, word] of sum.entries()) bytes.writeUInt32LE(word, 4 + 4 * at);
  return createHash("sha256").update(bytes).digest("hex");
}
