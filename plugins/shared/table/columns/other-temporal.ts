/** Dates in common notations: `31.12.1999`, `12/31/1999 23:59`, and ISO 8601 with several blanks before the time. */

import { isCalendarDate } from "../../../../src/model/index.js";

/** Which of the two numbers of a date can be the day. */
export const DateOrder = { none: 0, dayFirst: 1, monthFirst: 2, either: 3 } as const;

export interface OtherTemporal {
  readonly hasTime: boolean;
  /** `none` if the date begins with the year. */
  readonly order: number;
  readonly year: string;
  /** The two numbers for day and month, in the order of the text. */
  readonly first: number;
  readonly second: number;
  /** Canonical, with its time zone; empty without a time. */
  readonly time: string;
}

const timePattern = String.raw`(\d{1,2}):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\s?([AaPp][Mm])?(Z|z|[+-]\d\d(?::?\d\d)?)?`;
const dateFirstPattern = new RegExp(String.raw`^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:(?:,?\s+|[Tt])${timePattern})?$`);
const yearFirstPattern = new RegExp(String.raw`^(\d{4})([-/])(\d\d)\2(\d\d)\s{2,}${timePattern}$`);

type TimeParts = readonly (string | undefined)[];

/** The canonical text of a time; null if the time does not exist. */
function canonicalTime([hours, minutes, seconds = "00", half, zone = ""]: TimeParts): string | null {
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  }
  if (hour > 23 || Number(minutes) > 59 || Number(seconds.replace(",", ".")) >= 60) return null;
  const offset = /^([+-]\d\d):?(\d\d)?$/.exec(zone);
  if (offset && (Math.abs(Number(offset[1])) > 23 || Number(offset[2] ?? 0) > 59)) return null;
  const end = offset ? `${offset[1]}:${offset[2] ?? "00"}` : zone.toUpperCase();
  return `${String(hour).padStart(2, "0")}:${minutes}:${seconds.replace(",", ".")}${end}`;
}

/** Parses a date, with or without a time; null for any other text. */
export function parseOtherTemporal(text: string): OtherTemporal | null {
  const match = dateFirstPattern.exec(text);
  if (match) {
    const [, a, separator, b, year, ...parts] = match;
    const clock = parts[0] === undefined ? "" : canonicalTime(parts);
    if (clock === null) return null;
    const [first, second] = [Number(a), Number(b)];
    const isDayFirst = isCalendarDate(Number(year), second, first);
    // Every country that writes dates with points puts the day first.
    const isMonthFirst = separator !== "." && isCalendarDate(Number(year), first, second);
    if (!isDayFirst && !isMonthFirst) return null;
    const order = first === second ? DateOrder.none : (isDayFirst ? 1 : 0) | (isMonthFirst ? 2 : 0);
    return { hasTime: clock !== "", order, year: year!, first, second, time: clock };
  }
  const found = yearFirstPattern.exec(text);
  if (!found) return null;
  const [, year, , month, day, ...parts] = found;
  const clock = canonicalTime(parts);
  if (clock === null || !isCalendarDate(Number(year), Number(month), Number(day))) return null;
  return { hasTime: true, order: DateOrder.none, year: year!, first: Number(day), second: Number(month), time: clock };
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

/** The canonical text; null if the date does not exist in this order. */
export function toCanonicalDate(
  { order, year, first, second, time: clock }: OtherTemporal,
  monthFirst: boolean,
): string | null {
  if (order !== DateOrder.none && (order & (monthFirst ? DateOrder.monthFirst : DateOrder.dayFirst)) === 0) return null;
  const [day, month] = monthFirst && order !== DateOrder.none ? [second, first] : [first, second];
  return `${year}-${twoDigits(month)}-${twoDigits(day)}${clock === "" ? "" : `T${clock}`}`;
}
