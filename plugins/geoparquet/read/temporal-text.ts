/** Writes dates and times in ISO 8601 into bytes, without a string for each. */

import { type CalendarDate, dateFromDays } from "../../../src/model/index.js";

const zero = 48;

export const dateBytes = 10;
/** Most bytes of a time: `HH:MM:SS.fffffffff`. */
export const maxTimeBytes = 18;

/** Days from 1970-01-01 to 0000-01-01 and 10000-01-01: years have four digits. */
export const firstDay = -719528;
export const endDay = 2932897;

function writeDigits(value: number, digits: number, bytes: Uint8Array, at: number): number {
  for (let i = digits - 1, rest = value; i >= 0; i--) {
    bytes[at + i] = zero + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return at + digits;
}

const date: CalendarDate = { year: 0, month: 0, day: 0 };

/** Writes `YYYY-MM-DD` for a day since 1970-01-01. */
export function writeDate(days: number, bytes: Uint8Array, start: number): number {
  dateFromDays(days, date);
  let at = writeDigits(date.year, 4, bytes, start);
  bytes[at++] = 45;
  at = writeDigits(date.month, 2, bytes, at);
  bytes[at++] = 45;
  return writeDigits(date.day, 2, bytes, at);
}

/** Writes `HH:MM:SS`, with 3, 6 or 9 decimals where they are not zero. */
export function writeTime(second: number, nanosecond: number, bytes: Uint8Array, start: number): number {
  let at = writeDigits(Math.floor(second / 3600), 2, bytes, start);
  bytes[at++] = 58;
  at = writeDigits(Math.floor(second / 60) % 60, 2, bytes, at);
  bytes[at++] = 58;
  at = writeDigits(second % 60, 2, bytes, at);
  if (nanosecond === 0) return at;
  bytes[at++] = 46;
  if (nanosecond % 1e6 === 0) return writeDigits(nanosecond / 1e6, 3, bytes, at);
  if (nanosecond % 1000 === 0) return writeDigits(nanosecond / 1000, 6, bytes, at);
  return writeDigits(nanosecond, 9, bytes, at);
}
