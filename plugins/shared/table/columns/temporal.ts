/** Dates and times as they stand in bytes, and their canonical ISO 8601 text. */
import { isCalendarDate } from "../../../../src/model/index.js";

export const TemporalKind = { none: 0, date: 1, time: 2, datetime: 3 } as const;

const digitAt = (bytes: Uint8Array, i: number) => bytes[i]! - 48;
const isDigit = (digit: number) => digit >= 0 && digit <= 9;

/** The number of two digits at `i`, −1 if there are none. */
function twoDigitsAt(bytes: Uint8Array, i: number): number {
  const tens = digitAt(bytes, i);
  const ones = digitAt(bytes, i + 1);
  return isDigit(tens) && isDigit(ones) ? tens * 10 + ones : -1;
}

/** Whether `YYYY-MM-DD` or `YYYY/MM/DD` is at `i`, and the day exists. */
function isDateAt(bytes: Uint8Array, i: number): boolean {
  const separator = bytes[i + 4];
  if ((separator !== 45 && separator !== 47) || bytes[i + 7] !== separator) return false;
  const century = twoDigitsAt(bytes, i);
  const rest = twoDigitsAt(bytes, i + 2);
  const month = twoDigitsAt(bytes, i + 5);
  const day = twoDigitsAt(bytes, i + 8);
  return century >= 0 && rest >= 0 && isCalendarDate(century * 100 + rest, month, day);
}

/** The end of the time `HH:MM[:SS[.fff]]` that begins at `i`; −1 if there is none. */
function findTimeEnd(bytes: Uint8Array, i: number, to: number, needsSeconds: boolean): number {
  if (to - i < 5 || bytes[i + 2] !== 58) return -1;
  const hour = twoDigitsAt(bytes, i);
  const minute = twoDigitsAt(bytes, i + 3);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return -1;
  if (to - i < 8 || bytes[i + 5] !== 58) return needsSeconds ? -1 : i + 5;
  const second = twoDigitsAt(bytes, i + 6);
  if (second < 0 || second > 59) return -1;
  let at = i + 8;
  if (at < to && bytes[at] === 46) {
    at++;
    while (at < to && isDigit(digitAt(bytes, at))) at++;
    if (at === i + 9) return -1;
  }
  return at;
}

/** Whether `bytes[i … to]` is empty, `Z`, `±HH`, `±HHMM` or `±HH:MM`. */
function isZone(bytes: Uint8Array, i: number, to: number): boolean {
  const size = to - i;
  if (size === 0) return true;
  if (size === 1) return (bytes[i]! | 32) === 122;
  if (bytes[i] !== 43 && bytes[i] !== 45) return false;
  const hour = size >= 3 ? twoDigitsAt(bytes, i + 1) : -1;
  if (hour < 0 || hour > 23) return false;
  if (size === 3) return true;
  const minute =
    size === 5 ? twoDigitsAt(bytes, i + 3) : size === 6 && bytes[i + 3] === 58 ? twoDigitsAt(bytes, i + 4) : -1;
  return minute >= 0 && minute <= 59;
}

/** Classifies the whole of `bytes[from … to]`. A time without a date needs seconds, because `16:09` is ambiguous. */
export function classifyTemporal(bytes: Uint8Array, from: number, to: number): number {
  const size = to - from;
  if (size < 8) return TemporalKind.none;
  if (bytes[from + 2] === 58) return findTimeEnd(bytes, from, to, true) === to ? TemporalKind.time : TemporalKind.none;
  if (size < 10 || !isDateAt(bytes, from)) return TemporalKind.none;
  if (size === 10) return TemporalKind.date;
  const separator = bytes[from + 10]!;
  if (separator !== 32 && (separator | 32) !== 116) return TemporalKind.none;
  const end = findTimeEnd(bytes, from + 11, to, false);
  return end > 0 && isZone(bytes, end, to) ? TemporalKind.datetime : TemporalKind.none;
}

/** Length in bytes of the canonical text of the datetime `bytes[from … to]`, as classified by `classifyTemporal`. */
export function canonicalDatetimeLength(bytes: Uint8Array, from: number, to: number): number {
  const hasSeconds = bytes[from + 16] === 58;
  let end = from + (hasSeconds ? 19 : 16);
  if (hasSeconds && bytes[end] === 46) {
    end++;
    while (end < to && isDigit(digitAt(bytes, end))) end++;
  }
  const zone = to - end;
  return end - from + (hasSeconds ? 0 : 3) + (zone > 1 ? 6 : zone);
}

/**
 * The canonical text of a value that `classifyTemporal` classified: `2020-01-02`, `10:30:00.5`,
 * `2020-01-02T10:30:00+01:00`.
 */
export function toCanonicalTemporal(bytes: Uint8Array, from: number, to: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  if (text.length < 10 || text[2] === ":") return text;
  const date = `${text.slice(0, 4)}-${text.slice(5, 7)}-${text.slice(8, 10)}`;
  const match = /^(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:([zZ])|([+-]\d\d):?(\d\d)?)?$/.exec(text.slice(11));
  if (!match) return date;
  const [, minutes, seconds = ":00", utc, hours, rest = "00"] = match;
  return `${date}T${minutes}${seconds}${utc ? "Z" : hours ? `${hours}:${rest}` : ""}`;
}
