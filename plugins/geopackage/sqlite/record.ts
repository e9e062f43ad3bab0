/** Encodes varints and integers (The SQLite Database File Format, 1.6 and 2.1). */

/** Size in bytes of the varint of a non-negative number of up to 53 bits. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 128 && size < 9; size++) rest = Math.floor(rest / 128);
  return size;
}

/** Writes a non-negative varint of up to 53 bits. @returns the next offset */
export function writeSmallVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0x80) {
    bytes[at] = value;
    return at + 1;
  }
  if (value < 0x4000) {
    bytes[at] = (value >>> 7) | 0x80;
    bytes[at + 1] = value & 0x7f;
    return at + 2;
  }
  const size = varintSize(value);
  let rest = value;
  for (let n = size - 1; n >= 0; n--) {
    bytes[at + n] = (rest % 128) | (n === size - 1 ? 0 : 0x80);
    rest = Math.floor(rest / 128);
  }
  return at + size;
}

/** Writes a 64-bit varint given as 32-bit halves, `high` signed. @returns the next offset */
export function writeVarint(bytes: Uint8Array, at: number, high: number, low: number): number {
  if (high === 0) return writeSmallVarint(bytes, at, low >>> 0);
  if (high >>> 24 === 0) return writeSmallVarint(bytes, at, (high >>> 0) * 4_294_967_296 + (low >>> 0));
  // Nine bytes: eight of seven bits, and one of eight.
  bytes[at + 8] = low & 0xff;
  let rest = BigInt.asUintN(64, (BigInt(high) << 32n) | BigInt(low >>> 0)) >> 8n;
  for (let n = 7; n >= 0; n--) {
    bytes[at + n] = Number(rest & 0x7fn) | 0x80;
    rest >>= 7n;
  }
  return at + 9;
}

/** The smallest serial type for an integer given as 32-bit halves. */
export function integerSerialType(high: number, low: number): number {
  // Does not fit into 32 bits unless `high` is the sign extension of `low`.
  if (high !== low >> 31) return high < -0x8000 || high > 0x7fff ? 6 : 5;
  if (low === 0) return 8;
  if (low === 1) return 9;
  const size = low < 0 ? ~low : low;
  if (size < 0x80) return 1;
  if (size < 0x8000) return 2;
  return size < 0x80_0000 ? 3 : 4;
}

/** Writes an integer by its serial type. @returns the next offset */
export function writeInteger(view: DataView, at: number, serial: number, high: number, low: number): number {
  switch (serial) {
    case 1:
      view.setInt8(at, low);
      return at + 1;
    case 2:
      view.setInt16(at, low);
      return at + 2;
    case 3:
      view.setInt8(at, low >> 16);
      view.setUint16(at + 1, low & 0xffff);
      return at + 3;
    case 4:
      view.setInt32(at, low);
      return at + 4;
    case 5:
      view.setInt16(at, high);
      view.setInt32(at + 2, low);
      return at + 6;
    case 6:
      view.setInt32(at, high);
      view.setInt32(at + 4, low);
      return at + 8;
    default:
      return at;
  }
}
