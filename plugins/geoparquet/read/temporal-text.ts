/** Writes dates and times in ISO 8601 into bytes, without a string for each. */

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

/** Writes `YYYY-MM-DD` for a day since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"). */
export function writeDate(day: number, bytes: Uint8Array, start: number): number {
  const shifted = day + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  let at = writeDigits(year, 4, bytes, start);
  bytes[at++] = 45;
  at = writeDigits(month, 2, bytes, at);
  bytes[at++] = 45;
  return writeDigits(dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1, 2, bytes, at);
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
