import { allocate } from "./memory.js";

/** Runs of so many numbers are sorted by insertion, and then merged. */
const shortRun: u32 = 8;

/** Room for the numbers that are merged; kept for the next time. */
let scratch: usize = 0;
let scratchRoom: u32 = 0;

/** Forgets the memory, which is free. */
export function resetSort(): void {
  scratchRoom = 0;
}

/** Sorts numbers, of which none is NaN, in ascending order. */
export function sortNumbers(values: usize, count: u32): void {
  if (count > scratchRoom) {
    scratchRoom = max<u32>(1024, 2 * count);
    scratch = allocate(8 * <usize>scratchRoom);
  }
  for (let from: u32 = 0; from < count; from += shortRun)
    insert(values + 8 * <usize>from, min<u32>(shortRun, count - from));
  let source = values;
  let target = scratch;
  for (let run = shortRun; run < count; run <<= 1) {
    for (let from: u32 = 0; from < count; from += 2 * run)
      merge(source, target, from, min<u32>(from + run, count), min<u32>(from + 2 * run, count));
    const merged = target;
    target = source;
    source = merged;
  }
  if (source !== values) memory.copy(values, source, 8 * <usize>count);
}

function insert(values: usize, count: u32): void {
  for (let n: u32 = 1; n < count; n++) {
    let at = values + 8 * <usize>n;
    const value = load<f64>(at);
    for (; at > values && load<f64>(at - 8) > value; at -= 8) store<f64>(at, load<f64>(at - 8));
    store<f64>(at, value);
  }
}

/** Merges two sorted runs. The choice of the next number is no branch, which could not be predicted. */
function merge(source: usize, target: usize, from: u32, middle: u32, end: u32): void {
  let one = source + 8 * <usize>from;
  const oneEnd = source + 8 * <usize>middle;
  let other = oneEnd;
  const otherEnd = source + 8 * <usize>end;
  let to = target + 8 * <usize>from;
  while (one < oneEnd && other < otherEnd) {
    const a = load<f64>(one);
    const b = load<f64>(other);
    const takesOther = b < a;
    store<f64>(to, select<f64>(b, a, takesOther));
    other += (<usize>takesOther) << 3;
    one += (<usize>!takesOther) << 3;
    to += 8;
  }
  for (; one < oneEnd; one += 8, to += 8) store<f64>(to, load<f64>(one));
  for (; other < otherEnd; other += 8, to += 8) store<f64>(to, load<f64>(other));
}
