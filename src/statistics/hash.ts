/** A hash of bytes in two words of 32 bits, for tables, digests and sketches; not for secrets. */

/** The words of the last hash; a result of its own for each call would be allocated for each value. */
export const hashed = { low: 0, high: 0 };

const mix = (word: number): number => {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
};

let first = 0;
let second = 0;

/** Starts a hash. */
export function startHash(seed: number): void {
  first = 0x9e3779b9 ^ seed;
  second = 0x7f4a7c15 + seed;
}

/** Adds a word of 32 bits: two lanes of MurmurHash3 (A. Appleby, public domain), with different constants. */
export function addWord(word: number): void {
  let a = Math.imul(word, 0xcc9e2d51);
  a = Math.imul((a << 15) | (a >>> 17), 0x1b873593);
  first ^= a;
  first = (Math.imul((first << 13) | (first >>> 19), 5) + 0xe6546b64) | 0;
  let b = Math.imul(word ^ first, 0xab0e9789);
  b = Math.imul((b << 16) | (b >>> 16), 0x38b34ae5);
  second ^= b;
  second = (Math.imul((second << 17) | (second >>> 15), 5) + 0x0bcaa747) | 0;
}

/** Ends a hash: its words are in `hashed`, each from −2^31 to 2^31 − 1, which the engine does not have to allocate. */
export function endHash(): void {
  const a = mix(first ^ Math.imul(second, 0x2127599b));
  const b = mix(second + Math.imul(a, 0x9e3779b1));
  hashed.low = a;
  hashed.high = b;
}

/** Hashes `bytes[from … to]`. */
export function hashBytes(bytes: Uint8Array, from: number, to: number): void {
  startHash(to - from);
  let at = from;
  for (; at + 4 <= to; at += 4)
    addWord(bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  let rest = 0;
  for (let shift = 0; at < to; at++, shift += 8) rest |= bytes[at]! << shift;
  addWord(rest);
  endHash();
}

/**
 * Hashes values of a column one after the other as `hashBytes` does, and eight bytes as `startHash(seed)`, two words and
 * `endHash` do; without calls, since this is done for each value of a file.
 * @param ends the end of each value in `bytes`, behind the start of the first one
 * @param seed of values of eight bytes; null starts with the length of each value
 * @param hashes gets two words for each value
 */
export function hashValues(
  bytes: Uint8Array,
  ends: Uint32Array,
  length: number,
  seed: number | null,
  hashes: Int32Array,
): void {
  for (let n = 0; n < length; n++) {
    const [from, to] = [ends[n]!, ends[n + 1]!];
    const start = seed ?? to - from;
    let one = 0x9e3779b9 ^ start;
    let other = (0x7f4a7c15 + start) | 0;
    // Texts also have a last word of the bytes that are left, even if there are none.
    const words = seed === null ? ((to - from) >> 2) + 1 : 2;
    for (let k = 0, at = from; k < words; k++, at += 4) {
      let word = 0;
      if (at + 4 <= to) word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      else for (let rest = at, shift = 0; rest < to; rest++, shift += 8) word |= bytes[rest]! << shift;
      let a = Math.imul(word, 0xcc9e2d51);
      a = Math.imul((a << 15) | (a >>> 17), 0x1b873593);
      one ^= a;
      one = (Math.imul((one << 13) | (one >>> 19), 5) + 0xe6546b64) | 0;
      let b = Math.imul(word ^ one, 0xab0e9789);
      b = Math.imul((b << 16) | (b >>> 16), 0x38b34ae5);
      other ^= b;
      other = (Math.imul((other << 17) | (other >>> 15), 5) + 0x0bcaa747) | 0;
    }
    const low = mix(one ^ Math.imul(other, 0x2127599b));
    hashes[2 * n] = low;
    hashes[2 * n + 1] = mix((other + Math.imul(low, 0x9e3779b1)) | 0);
  }
}
