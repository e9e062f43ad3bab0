/** Reads dates and times in ISO 8601 from bytes, without a string for each. */

import { daysFromDate, isCalendarDate } from "../../../src/model/index.js";

const zero = 48;

const twoDigits = (bytes: Uint8Array, at: number): number => bytes[at]! * 10 + bytes[at + 1]! - 11 * zero;

/** Days from 1970-01-01 to the date `YYYY-MM-DD` at `at`; NaN if its month has no such day. */
export function readDate(bytes: Uint8Array, at: number): number {
  const year = 100 * twoDigits(bytes, at) + twoDigits(bytes, at + 2);
  const month = twoDigits(bytes, at + 5);
  const day = twoDigits(bytes, at + 8);
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
  const seconds = twoDigits(bytes, at) * 3600 + twoDigits(bytes, at + 3) * 60 + twoDigits(bytes, at + 6);
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
  const minutes = twoDigits(bytes, at + 1) * 60 + twoDigits(bytes, at + 4);
  return bytes[at] === 0x2d ? -minutes : minutes;
}
