/** The first, last and longest texts of rows. */
import { compare, loadRest } from "./memory.js";

/** Texts are compared by at most so many bytes. */
const maxStartBytes: u32 = 256;

export let firstRow: i32 = -1;
export let lastRow: i32 = -1;
export let longestRow: i32 = -1;

/** The first eight bytes of a text as a number in their order, with zeros behind a shorter text. */
function startOf(at: usize, size: u32): u64 {
  return bswap<u64>(size < 8 ? loadRest(at, size) : load<u64>(at));
}

/** @returns a negative number if the first text is before the second */
function order(one: usize, oneSize: u32, other: usize, otherSize: u32): i32 {
  const size = min<u32>(maxStartBytes, oneSize);
  const most = min<u32>(maxStartBytes, otherSize);
  const found = compare(one, other, min<u32>(size, most));
  return found !== 0 ? found : <i32>size - <i32>most;
}

/** Looks at the rows that are `wanted`, which have eight readable bytes behind their own. */
export function findExtremes(bytes: usize, ends: usize, wanted: usize, count: u32): void {
  firstRow = -1;
  lastRow = -1;
  longestRow = -1;
  let most: u32 = 0;
  let first: usize = 0;
  let last: usize = 0;
  let firstSize: u32 = 0;
  let lastSize: u32 = 0;
  let firstStart: u64 = 0;
  let lastStart: u64 = 0;
  for (let row: u32 = 0; row < count; row++) {
    if (load<u8>(wanted + row) === 0) continue;
    const from = load<u32>(ends + 4 * <usize>row);
    const size = load<u32>(ends + 4 * <usize>row, 4) - from;
    const at = bytes + from;
    const start = startOf(at, size);
    if (firstRow < 0 || start < firstStart || (start === firstStart && order(at, size, first, firstSize) < 0)) {
      firstRow = row;
      first = at;
      firstSize = size;
      firstStart = start;
    }
    if (lastRow < 0 || start > lastStart || (start === lastStart && order(at, size, last, lastSize) > 0)) {
      lastRow = row;
      last = at;
      lastSize = size;
      lastStart = start;
    }
    if (longestRow < 0 || size > most) {
      longestRow = row;
      most = size;
    }
  }
}
