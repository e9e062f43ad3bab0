/** Sum, least and greatest of the numbers of rows. */

const present: u8 = 1;

/** The sum with the part that rounding lost (A. Neumaier, 1974). */
export let sum: f64 = 0;
export let lost: f64 = 0;
/** Least and greatest of the finite numbers; infinity and −infinity without any. */
export let least: f64 = 0;
export let greatest: f64 = 0;
/** Present numbers that are finite, and those that are not. */
export let finite: u32 = 0;
export let notFinite: u32 = 0;

export function isFiniteNumber(value: f64): bool {
  return abs<f64>(value) < Infinity;
}

/** Replaces −0, which equals 0, and adds the numbers that are present to a sum. */
export function addNumbers(numbers: usize, presence: usize, count: u32, sumBefore: f64, lostBefore: f64): void {
  let total = sumBefore;
  let rest = lostBefore;
  let low = Infinity;
  let high = -Infinity;
  let added: u32 = 0;
  let others: u32 = 0;
  for (let row: u32 = 0; row < count; row++) {
    const at = numbers + 8 * <usize>row;
    const number = load<f64>(at) + 0;
    store<f64>(at, number);
    if (load<u8>(presence + row) !== present) continue;
    if (!isFiniteNumber(number)) {
      others++;
      continue;
    }
    added++;
    const next = total + number;
    rest += abs<f64>(total) >= abs<f64>(number) ? total - next + number : number - next + total;
    total = next;
    if (number < low) low = number;
    if (number > high) high = number;
  }
  sum = total;
  lost = rest;
  least = low;
  greatest = high;
  finite = added;
  notFinite = others;
}
