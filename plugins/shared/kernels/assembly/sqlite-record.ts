/** Varints and integers of SQLite (file format, 1.6 and 2.1). */

/** A cell refers to a value in a record: the place of its bytes and its serial type. */
export const cellBytes: usize = 8;

export function setCell(cell: usize, at: usize, serial: u32): void {
  store<u32>(cell, <u32>at);
  store<u32>(cell, serial, 4);
}

export function placeOf(cell: usize): usize {
  return <usize>load<u32>(cell);
}

export function serialOf(cell: usize): u32 {
  return load<u32>(cell, 4);
}

/** After a varint, its end. */
export let next: usize = 0;

/** The varint at `at`; values beyond 2^63 are negative. */
export function varint(at: usize): i64 {
  let value: i64 = 0;
  for (let n = 0; n < 8; n++) {
    const byte = <i64>load<u8>(at++);
    value = (value << 7) | (byte & 0x7f);
    if (byte < 0x80) {
      next = at;
      return value;
    }
  }
  next = at + 1;
  return (value << 8) | <i64>load<u8>(at);
}

export function uint16(at: usize): u32 {
  return <u32>bswap<u16>(load<u16>(at));
}

/** Size of a value of serial type 0 … 9. */
export function contentBytes(serial: u32): usize {
  return serial < 5 ? <usize>serial : serial === 5 ? 6 : serial < 8 ? 8 : 0;
}

export function isInteger(serial: u32): bool {
  return (serial >= 1 && serial <= 6) || serial === 8 || serial === 9;
}
