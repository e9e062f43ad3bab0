/** Recognizes canonical ISO 8601 dates and times in bytes. */

import { daysInMonth } from "./calendar.js";

export type TemporalType = "date" | "time" | "datetime";

const [hyphen, point, colon, letterT, letterZ, plus] = [45, 46, 58, 84, 90, 43];

const isDigit = (bytes: Uint8Array, i: number): boolean => {
  const digit = bytes[i]! - 48;
  return digit >= 0 && digit <= 9;
};

/** The number of the two digits at `i`, −1 where they are none. */
function twoDigits(bytes: Uint8Array, i: number): number {
  const tens = bytes[i]! - 48;
  const ones = bytes[i + 1]! - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

/** Whether a day of the calendar stands at `i` as `YYYY-MM-DD`. */
function isDateAt(bytes: Uint8Array, i: number): boolean {
  if (bytes[i + 4] !== hyphen || bytes[i + 7] !== hyphen) return false;
  const century = twoDigits(bytes, i);
  const rest = twoDigits(bytes, i + 2);
  const month = twoDigits(bytes, i + 5);
  const day = twoDigits(bytes, i + 8);
  if (century < 0 || rest < 0 || month < 1 || month > 12 || day < 1) return false;
  // All months have these days.
  return day <= 28 || day <= daysInMonth(century * 100 + rest, month);
}

/** Where the time `HH:MM:SS[.fff]` at `i` ends, −1 where there is none before `to`. */
function timeEnd(bytes: Uint8Array, i: number, to: number): number {
  if (to - i < 8 || bytes[i + 2] !== colon || bytes[i + 5] !== colon) return -1;
  const hour = twoDigits(bytes, i);
  const minute = twoDigits(bytes, i + 3);
  const second = twoDigits(bytes, i + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
  let at = i + 8;
  if (at < to && bytes[at] === point) {
    at++;
    while (at < to && isDigit(bytes, at)) at++;
    if (at === i + 9) return -1;
  }
  return at;
}

/** Whether `bytes[i … to]` is nothing, `Z` or `±HH:MM`. */
function isTimeZoneOrEmpty(bytes: Uint8Array, i: number, to: number): boolean {
  if (i === to) return true;
  if (to - i === 1) return bytes[i] === letterZ;
  if (to - i !== 6 || (bytes[i] !== plus && bytes[i] !== hyphen) || bytes[i + 3] !== colon) return false;
  const hour = twoDigits(bytes, i + 1);
  const minute = twoDigits(bytes, i + 4);
  return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

/** The type whose canonical form `bytes[from … to]` has, else null. A day that its month lacks is no date. */
export function temporalTypeAt(bytes: Uint8Array, from: number, to: number): TemporalType | null {
  const size = to - from;
  if (size < 8 || !isDigit(bytes, from)) return null;
  if (bytes[from + 2] === colon) return timeEnd(bytes, from, to) === to ? "time" : null;
  if (size < 10 || !isDateAt(bytes, from)) return null;
  if (size === 10) return "date";
  if (bytes[from + 10] !== letterT) return null;
  const end = timeEnd(bytes, from + 11, to);
  return end > 0 && isTimeZoneOrEmpty(bytes, end, to) ? "datetime" : null;
}
