type Numbers = Uint8Array | Uint32Array | Int32Array | Float64Array | BigInt64Array;

/** Whether `count` elements have the same bits. */
export function hasEqualBits(one: Numbers, from: number, other: Numbers, otherFrom: number, count: number): boolean {
  if (one.BYTES_PER_ELEMENT !== other.BYTES_PER_ELEMENT) return false;
  const size = one.BYTES_PER_ELEMENT;
  const bytesOf = ({ buffer, byteOffset }: Numbers, first: number) =>
    Buffer.from(buffer, byteOffset + size * first, size * count);
  return bytesOf(one, from).equals(bytesOf(other, otherFrom));
}

/** Whether the lengths are equal that consecutive offsets stand for. */
export function hasEqualLengths(
  one: Uint32Array,
  from: number,
  other: Uint32Array,
  otherFrom: number,
  count: number,
): boolean {
  const shift = other[otherFrom]! - one[from]!;
  if (shift === 0) return hasEqualBits(one, from, other, otherFrom, count + 1);
  for (let n = 1; n <= count; n++) if (other[otherFrom + n]! - one[from + n]! !== shift) return false;
  return true;
}
