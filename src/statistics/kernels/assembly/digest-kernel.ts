/**
 * Joins equal digests, in parts that fit into the cache of a processor. One instance for each join, whose memory is freed
 * as a whole.
 */
import { allocate } from "./memory.js";

/** Digests of a part, about. */
const partDigests: u32 = 1 << 11;

/** The input: digests of 64 bits, with repetitions of each; both are reordered, and the distinct ones are the output. */
let digests: usize = 0;
/** 0 if the input has none. */
let repeats: usize = 0;
/** Occurrences of the digests of the output beyond the first of each. */
let repeated: u32 = 0;
/** Numbers of digests by their hash, from 1. */
let slots: usize = 0;
let slotRoom: u32 = 0;

/** Makes room for so many digests. */
export function reserve(count: u32, withRepeats: bool): void {
  digests = allocate(8 * <usize>count);
  if (!withRepeats) return;
  repeats = allocate(4 * <usize>count);
  memory.fill(repeats, 0, 4 * <usize>count);
}
export function digestsAt(): usize {
  return digests;
}
export function repeatsAt(): usize {
  return repeats;
}
export function repeatedDigests(): u32 {
  return repeated;
}

function word(words: usize, n: u32): u32 {
  return load<u32>(words + 4 * <usize>n);
}

function setWord(words: usize, n: u32, value: u32): void {
  store<u32>(words + 4 * <usize>n, value);
}

function digestAt(n: u32): u64 {
  return load<u64>(digests + 8 * <usize>n);
}

/** Whether a digest begins with so many zero bits. */
function isSampled(digest: u64, level: u32): bool {
  return level === 0 || digest >> (64 - level) === 0;
}

/**
 * Joins the digests that begin with `level` zero bits.
 * @returns the number of distinct ones
 */
export function join(count: u32, level: u32): u32 {
  let parts: u32 = 1;
  while (parts * partDigests < count) parts <<= 1;
  const ends = allocate(4 * <usize>(parts + 1));
  partition(count, level, parts, ends);
  const sampled = word(ends, parts - 1);
  let kept: u32 = 0;
  let from: u32 = 0;
  for (let part: u32 = 0; part < parts; part++) {
    const to = word(ends, part);
    kept = joinPart(from, to, kept);
    from = to;
  }
  repeated += sampled - kept;
  return kept;
}

/** Orders the digests by their lowest bits, which name a part. */
function partition(count: u32, level: u32, parts: u32, ends: usize): void {
  const mask = parts - 1;
  memory.fill(ends, 0, 4 * <usize>(parts + 1));
  for (let n: u32 = 0; n < count; n++) {
    const digest = digestAt(n);
    if (!isSampled(digest, level)) continue;
    const part = (<u32>digest & mask) + 1;
    setWord(ends, part, word(ends, part) + 1);
  }
  for (let part: u32 = 1; part <= parts; part++) setWord(ends, part, word(ends, part) + word(ends, part - 1));
  const sampled = word(ends, parts);
  const toDigests = allocate(8 * <usize>sampled);
  const toRepeats = repeats === 0 ? 0 : allocate(4 * <usize>sampled);
  repeated = 0;
  for (let n: u32 = 0; n < count; n++) {
    const digest = digestAt(n);
    if (!isSampled(digest, level)) continue;
    const part = <u32>digest & mask;
    const to = word(ends, part);
    // The starts of the parts move to their ends.
    setWord(ends, part, to + 1);
    store<u64>(toDigests + 8 * <usize>to, digest);
    if (repeats === 0) continue;
    setWord(toRepeats, to, word(repeats, n));
    repeated += word(repeats, n);
  }
  repeats = repeats === 0 ? clearInput(sampled) : toRepeats;
  digests = toDigests;
}

/** The memory of the input, filled with words that are 0. */
function clearInput(words: u32): usize {
  memory.fill(digests, 0, 4 * <usize>words);
  return digests;
}

/** Moves the distinct ones of the digests `from … to` to `first` and what follows. @returns the end of those */
function joinPart(from: u32, to: u32, first: u32): u32 {
  let slotCount: u32 = 2;
  while (slotCount < 2 * (to - from) + 2) slotCount <<= 1;
  if (slotCount > slotRoom) {
    slotRoom = slotCount;
    slots = allocate(4 * <usize>slotCount);
  }
  memory.fill(slots, 0, 4 * <usize>slotCount);
  const mask = slotCount - 1;
  let kept = first;
  for (let n = from; n < to; n++) {
    const digest = digestAt(n);
    let slot = <u32>(digest >> 32) & mask;
    let found = word(slots, slot);
    while (found !== 0 && digestAt(found - 1) !== digest) {
      slot = (slot + 1) & mask;
      found = word(slots, slot);
    }
    if (found !== 0) setWord(repeats, found - 1, word(repeats, found - 1) + 1 + word(repeats, n));
    else {
      store<u64>(digests + 8 * <usize>kept, digest);
      setWord(repeats, kept, word(repeats, n));
      setWord(slots, slot, ++kept);
    }
  }
  return kept;
}
