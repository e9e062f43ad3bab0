/**
 * Compresses blocks with Snappy (format_description.txt of google/snappy): literals and copies from up to 64 KiB before.
 * Greedy, with a table of the last place of each hash of four bytes; bytes without matches are passed in growing steps.
 */

const tableBits: u32 = 14;
/** Bytes at the end of a block in which no match begins. */
const marginBytes: u32 = 15;

/** The last place of each hash, from the beginning of the block. */
const table = memory.data(2 << 14, 16);
/** A block of up to 64 KiB, so that places in it fit 16 bits, and room to read 16 bytes at once. */
const source = memory.data((1 << 16) + 64, 16);
/** A literal and the copy after it, of at least 65 bytes in all, take one byte more than those. */
const target = memory.data((1 << 16) + (1 << 14), 16);

/** Where a block of up to 64 KiB is put before `compress`. */
export function sourceOffset(): usize {
  return source;
}
/** Where the result of `compress` is. */
export function targetOffset(): usize {
  return target;
}

function hashOf(bytes: u32): usize {
  return (<usize>((bytes * 0x1e35a7bd) >>> (32 - tableBits))) << 1;
}

/** Number of equal bytes at two places, at most those before `end`. */
function matchLength(earlier: usize, later: usize, end: usize): u32 {
  const start = later;
  while (later + 8 <= end) {
    const difference = load<u64>(earlier) ^ load<u64>(later);
    if (difference !== 0) return <u32>(later - start) + (<u32>ctz(difference) >>> 3);
    later += 8;
    earlier += 8;
  }
  while (later < end && load<u8>(earlier) === load<u8>(later)) {
    later++;
    earlier++;
  }
  return <u32>(later - start);
}

/** @returns the end of the literal `from … to` at `at` */
function writeLiteral(at: usize, from: usize, to: usize): usize {
  const size = <u32>(to - from);
  const rest = size - 1;
  if (rest < 60) store<u8>(at++, rest << 2);
  else if (rest < 256) {
    store<u16>(at, (60 << 2) | (rest << 8));
    at += 2;
  } else {
    store<u8>(at, 61 << 2);
    store<u16>(at + 1, rest);
    at += 3;
  }
  if (size <= 16) v128.store(at, v128.load(from));
  else memory.copy(at, from, size);
  return at + size;
}

/** @returns the end of the copy of `size` bytes, four at least, from `distance` before, at `at` */
function writeCopy(at: usize, distance: u32, size: u32): usize {
  // 64 bytes each, but the last two copies have four at least.
  for (; size >= 68; size -= 64) at = writeLongCopy(at, distance, 64);
  if (size > 64) {
    at = writeLongCopy(at, distance, 60);
    size -= 60;
  }
  if (size >= 12 || distance >= 2048) return writeLongCopy(at, distance, size);
  store<u16>(at, 1 | ((size - 4) << 2) | ((distance >>> 8) << 5) | ((distance & 0xff) << 8));
  return at + 2;
}

function writeLongCopy(at: usize, distance: u32, size: u32): usize {
  store<u32>(at, 2 | ((size - 1) << 2) | (distance << 8));
  return at + 3;
}

/** The place in the block with the hash of the four bytes at `place`, which replaces it in the table. */
function exchange(place: usize): usize {
  const entry = table + hashOf(load<u32>(place));
  const earlier = source + <usize>load<u16>(entry);
  store<u16>(entry, <u32>(place - source));
  return earlier;
}

/** The place before that has the same four bytes as the one found. */
let earlier: usize = 0;

/** @returns the first place from `place` on with four bytes that were there before; 0 if there is none up to `last` */
function findMatch(place: usize, last: usize): usize {
  // One more byte is passed at once after every 64 places without a match.
  for (let skip: u32 = 64; place <= last; place += skip++ >>> 6) {
    const candidate = exchange(place);
    if (load<u32>(candidate) === load<u32>(place)) {
      earlier = candidate;
      return place;
    }
  }
  return 0;
}

/**
 * Compresses the block of `size` bytes at `sourceOffset`, without the size that begins a stream.
 * @returns the size of the result at `targetOffset`
 */
export function compress(size: u32): u32 {
  const end = source + size;
  const last = end - marginBytes;
  let at: usize = target;
  let literal: usize = source;
  memory.fill(table, 0, 2 << tableBits);
  // No match begins at the first byte, to which all entries of the table point.
  let place = size > marginBytes ? findMatch(source + 1, last) : 0;
  while (place !== 0) {
    at = writeLiteral(at, literal, place);
    let candidate = earlier;
    do {
      const length = 4 + matchLength(candidate + 4, place + 4, end);
      at = writeCopy(at, <u32>(place - candidate), length);
      place += length;
      literal = place;
      if (place > last) break;
      exchange(place - 1);
      candidate = exchange(place);
    } while (load<u32>(candidate) === load<u32>(place));
    place = findMatch(place + 1, last);
  }
  if (literal < end) at = writeLiteral(at, literal, end);
  return <u32>(at - target);
}
