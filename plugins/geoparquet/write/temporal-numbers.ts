/** Reads dates and times in ISO 8601 from bytes, without a string for each. */

const zero = 48;

function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i++) value = value * 10 + bytes[i]! - zero;
  return value;
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days from 1970-01-01 to the date `YYYY-MM-DD` at `at`; NaN if its month has no such day. */
export function readDate(bytes: Uint8Array, at: number): number {
  const year = digits(bytes, at, 4);
  const month = digits(bytes, at + 5, 2);
  const day = digits(bytes, at + 8, 2);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = (monthDays[month - 1] ?? 0) + (month === 2 && isLeap ? 1 : 0);
  if (!(day >= 1 && day <= last)) return Number.NaN;
  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719468;
}

/** A time of day in microseconds, and what follows it. */
export interface TimeOfDay {
  microseconds: number;
  /** Whether it had more digits than that. */
  isCut: boolean;
  end: number;
}

/** Reads `HH:MM:SS[.fff]` at `at`. */
export function readTime(bytes: Uint8Array, at: number, to: number, into: TimeOfDay): void {
  const seconds = digits(bytes, at, 2) * 3600 + digits(bytes, at + 3, 2) * 60 + digits(bytes, at + 6, 2);
  let end = at + 8;
  let fraction = 0;
  let isCut = false;
  if (bytes[end] === 0x2e) {
    let place = 100_000;
    for (end++; end < to; end++) {
      const digit = bytes[end]! - zero;
      if (digit < 0 || digit > 9) break;
      if (place >= 1) fraction += digit * place;
      else if (digit > 0) isCut = true;
      place /= 10;
    }
  }
  into.microseconds = seconds * 1e6 + Math.round(fraction);
  into.isCut = isCut;
  into.end = end;
}

/** Minutes east of UTC of `Z` or `±HH:MM` at `at`; null if there is none. */
export function readOffset(bytes: Uint8Array, at: number, to: number): number | null {
  if (at >= to) return null;
  if (bytes[at] === 0x5a) return 0;
  const minutes = digits(bytes, at + 1, 2) * 60 + digits(bytes, at + 4, 2);
  return bytes[at] === 0x2d ? -minutes : minutes;
}
