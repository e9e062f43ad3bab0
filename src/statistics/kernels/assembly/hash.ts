/** The hash of `src/statistics/hash.ts`. */

function mix(word: u32): u32 {
  let mixed = (word ^ (word >>> 16)) * 0x85ebca6b;
  mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
  return mixed ^ (mixed >>> 16);
}

let first: u32 = 0;
let second: u32 = 0;

function addWord(word: u32): void {
  first ^= rotl<u32>(word * 0xcc9e2d51, 15) * 0x1b873593;
  first = rotl<u32>(first, 13) * 5 + 0xe6546b64;
  second ^= rotl<u32>((word ^ first) * 0xab0e9789, 16) * 0x38b34ae5;
  second = rotl<u32>(second, 17) * 5 + 0x0bcaa747;
}

function endHash(): u64 {
  const low = mix(first ^ (second * 0x2127599b));
  const high = mix(second + low * 0x9e3779b1);
  return ((<u64>high) << 32) | <u64>low;
}

/** Hashes eight bytes at `at`. */
export function hashWords(seed: u32, at: usize): u64 {
  first = 0x9e3779b9 ^ seed;
  second = 0x7f4a7c15 + seed;
  addWord(load<u32>(at));
  addWord(load<u32>(at, 4));
  return endHash();
}

/** Hashes bytes; four more behind them must be readable. */
export function hashBytes(from: usize, size: u32): u64 {
  first = 0x9e3779b9 ^ size;
  second = 0x7f4a7c15 + size;
  const end = from + (size & ~3);
  for (let at = from; at < end; at += 4) addWord(load<u32>(at));
  addWord(load<u32>(end) & ((1 << (8 * (size & 3))) - 1));
  return endHash();
}

/** Hashes two doubles as a point: type, one ring, one position. */
export function hashPoint(at: usize): u64 {
  first = 0x9e3779b9;
  second = 0x7f4a7c15;
  for (let n = 0; n < 3; n++) addWord(1);
  for (let n: usize = 0; n < 16; n += 4) addWord(load<u32>(at + n));
  return endHash();
}
