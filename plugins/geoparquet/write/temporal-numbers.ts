/** Reads dates and times in ISO 8601 from bytes, without a string for each. */

import { daysFromDate, isCalendarDate } from "../../../src/model/index.js";

const zero = 48;

function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i++) value = value * 10 + bytes[i]! - zero;
  return value;
}

/** Days from 1970-01-01 to the date `YYYY-MM-DD` at `at`; NaN if its month has no such day. */
export function readDate(bytes: Uint8Array, at: number): number {
  const year = digits(bytes, at, 4);
  const month = digits(bytes, at + 5, 2);
  const day = digits(bytes, at + 8, 2);
  return isCalendarDate(year, month, day) ? daysFromDate(year, month, day) : Number.NaN;
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
