/** Recognizes canonical ISO 8601 dates and times, with days that exist in the proleptic Gregorian calendar. */

export enum Temporal {
  none,
  date,
  time,
  datetime,
}

const hyphen: u32 = 45;
const colon: u32 = 58;

function byteAt(at: usize): u32 {
  return <u32>load<u8>(at);
}

function isDigit(at: usize): bool {
  return byteAt(at) - 48 < 10;
}

/** The number of the two digits at `at`, −1 if they are none. */
function twoDigits(at: usize): i32 {
  const tens = byteAt(at) - 48;
  const ones = byteAt(at + 1) - 48;
  return tens < 10 && ones < 10 ? <i32>(tens * 10 + ones) : -1;
}

function daysInMonth(year: i32, month: i32): i32 {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Whether an existing day is written at `at` as `YYYY-MM-DD`. */
function isDate(at: usize): bool {
  if (byteAt(at + 4) !== hyphen || byteAt(at + 7) !== hyphen) return false;
  const century = twoDigits(at);
  const rest = twoDigits(at + 2);
  const month = twoDigits(at + 5);
  const day = twoDigits(at + 8);
  if (century < 0 || rest < 0 || month < 1 || month > 12 || day < 1) return false;
  return day <= daysInMonth(century * 100 + rest, month);
}

/** The end of the time `HH:MM:SS[.fff]` at `at`, 0 if there is none before `to`. */
function timeEnd(at: usize, to: usize): usize {
  if (to < at + 8 || byteAt(at + 2) !== colon || byteAt(at + 5) !== colon) return 0;
  const hour = twoDigits(at);
  const minute = twoDigits(at + 3);
  const second = twoDigits(at + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return 0;
  let end = at + 8;
  if (end < to && byteAt(end) === 46) {
    end++;
    while (end < to && isDigit(end)) end++;
    if (end === at + 9) return 0;
  }
  return end;
}

/** Whether the bytes `at … to` are nothing, `Z` or `±HH:MM`. */
function isTimeZoneOrEmpty(at: usize, to: usize): bool {
  if (at === to) return true;
  if (to - at === 1) return byteAt(at) === 90;
  if (to - at !== 6 || (byteAt(at) !== 43 && byteAt(at) !== hyphen) || byteAt(at + 3) !== colon) return false;
  const hour = twoDigits(at + 1);
  const minute = twoDigits(at + 4);
  return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

/** The type whose canonical form the bytes `from … to` have. */
export function temporalType(from: usize, to: usize): Temporal {
  const size = to - from;
  if (size < 8 || !isDigit(from)) return Temporal.none;
  if (byteAt(from + 2) === colon) return timeEnd(from, to) === to ? Temporal.time : Temporal.none;
  if (size < 10 || !isDate(from)) return Temporal.none;
  if (size === 10) return Temporal.date;
  if (byteAt(from + 10) !== 84) return Temporal.none;
  const end = timeEnd(from + 11, to);
  return end > 0 && isTimeZoneOrEmpty(end, to) ? Temporal.datetime : Temporal.none;
}
