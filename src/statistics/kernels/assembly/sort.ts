import { allocate } from "./memory.js";

/** Values of a digit of eight bits, and digits of a number. */
const digitValues: u32 = 256;
const digitCount: u32 = 8;
const signBit: u64 = 1 << 63;

/** How many numbers have each value of each digit; then where the next of them belongs. */
const places = memory.data(4 * 256 * 8, 4);

/** Room for the numbers while they are moved; kept for the next time. */
let scratch: usize = 0;
let scratchRoom: u32 = 0;

/** Forgets the memory, which is free. */
export function resetSort(): void {
  scratchRoom = 0;
}

/**
 * Sorts numbers, of which none is NaN, in ascending order: by one digit after the other, from the lowest. A sort by
 * comparisons takes several times as long, since their outcomes cannot be predicted.
 */
export function sortNumbers(values: usize, count: u32): void {
  if (count > scratchRoom) {
    scratchRoom = max<u32>(1024, 2 * count);
    scratch = allocate(8 * <usize>scratchRoom);
  }
  const end = values + 8 * <usize>count;
  countDigits(values, end);
  let source = values;
  let target = scratch;
  for (let digit: u32 = 0; digit < digitCount; digit++) {
    const table = places + 4 * <usize>(digit * digitValues);
    const shift = <u64>(8 * digit);
    // Of whole numbers and short decimals, the lowest digits are all equal.
    if (load<u32>(table + 4 * digitOf(load<u64>(source), shift)) === count) continue;
    startPlaces(table);
    for (let at = source, last = source + 8 * <usize>count; at < last; at += 8) {
      const key = load<u64>(at);
      const slot = table + 4 * digitOf(key, shift);
      const place = load<u32>(slot);
      store<u32>(slot, place + 1);
      store<u64>(target + 8 * <usize>place, key);
    }
    const moved = target;
    target = source;
    source = moved;
  }
  for (let n: usize = 0; n < 8 * <usize>count; n += 8) store<u64>(values + n, toNumber(load<u64>(source + n)));
}

/** Replaces the numbers by keys in the same order, and counts the values of their digits. */
function countDigits(values: usize, end: usize): void {
  memory.fill(places, 0, 4 * digitValues * digitCount);
  for (let at = values; at < end; at += 8) {
    const bits = load<u64>(at);
    const key = bits ^ (<u64>(<i64>bits >> 63) | signBit);
    store<u64>(at, key);
    for (let digit: u32 = 0; digit < digitCount; digit++) {
      const slot = places + 4 * <usize>(digit * digitValues) + 4 * digitOf(key, <u64>(8 * digit));
      store<u32>(slot, load<u32>(slot) + 1);
    }
  }
}

function digitOf(key: u64, shift: u64): usize {
  return <usize>((key >> shift) & 0xff);
}

function toNumber(key: u64): u64 {
  return key ^ (<u64>(<i64>~key >> 63) | signBit);
}

function startPlaces(table: usize): void {
  let next: u32 = 0;
  for (let slot = table; slot < table + 4 * digitValues; slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, next);
    next += count;
  }
}
