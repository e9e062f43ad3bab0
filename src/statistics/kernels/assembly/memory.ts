/** Memory that is only ever freed as a whole. */
let top: usize = __heap_base;

/** Bytes behind each piece of memory that may be read. */
const margin: usize = 16;

/** @returns memory for `size` bytes, whose contents are undefined */
export function allocate(size: usize): usize {
  const at = (top + 15) & ~15;
  top = at + size + margin;
  const pages = <i32>((top + 0xffff) >>> 16) - memory.size();
  if (pages > 0 && memory.grow(pages) < 0) unreachable();
  return at;
}

/** @returns memory for `size` bytes that begins with the `used` bytes at `from` */
export function enlarge(from: usize, used: usize, size: usize): usize {
  const larger = allocate(size);
  memory.copy(larger, from, used);
  return larger;
}

export function freeAll(): void {
  top = __heap_base;
}

/** The first `size` bytes at `at`, at most seven, as a number with zeros above. */
export function loadRest(at: usize, size: u32): u64 {
  return size === 0 ? 0 : load<u64>(at) & (~0 >>> (64 - 8 * <u64>size));
}

/**
 * Copies bytes, and some of those behind them, to memory whose margin begins behind them at the earliest. For the few
 * bytes of most values, this takes a fraction of the time of `memory.copy`, which is a call out of WebAssembly.
 */
export function copyShort(to: usize, from: usize, size: u32): void {
  for (let at: u32 = 0; at < size; at += 8) store<u64>(to + at, load<u64>(from + at));
}

/** Whether `size` bytes are equal. */
export function isEqual(one: usize, other: usize, size: u32): bool {
  let at: u32 = 0;
  for (; at + 8 <= size; at += 8) if (load<u64>(one + at) !== load<u64>(other + at)) return false;
  return loadRest(one + at, size - at) === loadRest(other + at, size - at);
}

/** @returns a negative number if the `size` bytes at `one` are before those at `other`, 0 if they are equal */
export function compare(one: usize, other: usize, size: u32): i32 {
  for (let at: u32 = 0; at < size; at += 8) {
    const left = size - at;
    const first = left < 8 ? loadRest(one + at, left) : load<u64>(one + at);
    const second = left < 8 ? loadRest(other + at, left) : load<u64>(other + at);
    if (first !== second) return bswap<u64>(first) < bswap<u64>(second) ? -1 : 1;
  }
  return 0;
}
