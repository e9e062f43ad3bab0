/** Reads the hybrid of run-length encoding and bit-packing (Parquet, Encodings.md, RLE = 3). */

const truncated = () => new Error("a run of levels or indices is truncated");

/**
 * Decodes `count` values of `width` bits from `bytes[at … end]` into `into`.
 * @returns the only value if the first run has all of them, else −1
 */
export function readHybrid(
  bytes: Uint8Array,
  at: number,
  end: number,
  width: number,
  count: number,
  into: Uint8Array | Uint32Array,
): number {
  const valueBytes = (width + 7) >> 3;
  const mask = width === 32 ? 0xffffffff : (1 << width) - 1;
  let done = 0;
  while (done < count) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end || shift > 28) throw truncated();
      const byte = bytes[at++]!;
      header |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    const run = header >>> 1;
    if ((header & 1) === 0) {
      if (run === 0) continue;
      if (at + valueBytes > end) throw truncated();
      let value = 0;
      for (let n = 0; n < valueBytes; n++) value |= bytes[at++]! << (8 * n);
      value >>>= 0;
      const to = Math.min(count, done + run);
      into.fill(value, done, to);
      if (done === 0 && to === count) return value;
      done = to;
      continue;
    }
    const to = Math.min(count, done + run * 8);
    // Some writers leave out the padding of the last group.
    if (at + Math.ceil(((to - done) * width) / 8) > end) throw truncated();
    done = readBitPacked(bytes, at, width, mask, done, to, into);
    at += run * width;
  }
  return -1;
}

function readBitPacked(
  bytes: Uint8Array,
  at: number,
  width: number,
  mask: number,
  from: number,
  to: number,
  into: Uint8Array | Uint32Array,
): number {
  if (width === 1) {
    for (let i = from, bit = 0; i < to; i++, bit++) into[i] = (bytes[at + (bit >> 3)]! >> (bit & 7)) & 1;
    return to;
  }
  let buffer = 0;
  let bits = 0;
  for (let i = from; i < to; i++) {
    // A width over 24 with bits left over needs more than the 32 bits of an integer.
    if (width > 24) {
      into[i] = readWide(bytes, at, (i - from) * width, width);
      continue;
    }
    while (bits < width) {
      buffer |= bytes[at++]! << bits;
      bits += 8;
    }
    into[i] = buffer & mask;
    buffer >>>= width;
    bits -= width;
  }
  return to;
}

function readWide(bytes: Uint8Array, at: number, bit: number, width: number): number {
  let value = 0;
  for (let n = 0; n < width; n++) {
    const k = bit + n;
    if ((bytes[at + (k >> 3)]! >> (k & 7)) & 1) value += 2 ** n;
  }
  return value;
}

/** The number of bits that levels up to `highest` take. */
export const bitWidth = (highest: number): number => 32 - Math.clz32(highest);
