import { addWord, endHash, startHash } from "../../../src/statistics/hash.js";
import { Tag } from "../../../src/statistics/value-reader.js";

/** Hashes `bytes[from … to]`. */
export function hashBytes(bytes: Uint8Array, from: number, to: number): void {
  startHash(to - from);
  let at = from;
  for (; at + 4 <= to; at += 4) addWord(wordAt(bytes, at));
  let rest = 0;
  for (let shift = 0; at < to; at++, shift += 8) rest |= bytes[at]! << shift;
  addWord(rest);
  endHash();
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);

/** Hashes a value of a field: eight bytes of a boolean or number, or a text. */
export function hashValue(tag: number, bytes: Uint8Array): void {
  if (tag > Tag.integer) {
    hashBytes(bytes, 0, bytes.length);
    return;
  }
  startHash(tag);
  addWord(wordAt(bytes, 0));
  addWord(wordAt(bytes, 4));
  endHash();
}
