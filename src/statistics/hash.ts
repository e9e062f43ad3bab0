/** A hash in two words of 32 bits, for digests; not for secrets. `kernels/assembly/hash.ts` has the same for values and points. */

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
