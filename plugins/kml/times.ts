import { temporalType } from "../../src/model/index.js";

const yearOrMonth = /^\d{4}(-(0[1-9]|1[0-2]))?$/;

/** Whether a text is a time as KML has it: a year, a month, a date, or a date and time (OGC 07-147r2, 16.1). */
export function isKmlTime(text: string): boolean {
  if (text.startsWith("0000")) return false;
  if (yearOrMonth.test(text)) return true;
  const type = temporalType(text);
  return (type === "date" || type === "datetime") && isCalendarDay(text) && !outOfRangeZone.test(text.slice(10));
}

/** A zone is at most 14 hours off (XML Schema, part 2, 3.2.7.3). */
const outOfRangeZone = /[+-](1[5-9]|2\d|14:(?!00))[:\d]*$/;

/** Whether the month has the day. */
function isCalendarDay(text: string): boolean {
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number);
  // The day before the first of the next month; the years before 100 are those 400 years later.
  return day! <= new Date(Date.UTC(year! + 400, month!, 0)).getUTCDate();
}

/** A TimeSpan as @tmcw/togeojson says it; an open end is left out. */
export interface Timespan {
  readonly begin?: string;
  readonly end?: string;
}

/** The TimeSpan that a JSON value is, null where it says something that a TimeSpan cannot. */
export function parseTimespan(json: string): Timespan | null {
  const value = JSON.parse(json) as unknown;
  if (typeof value !== "object" || value === null) return null;
  const entries = Object.entries(value);
  const fits = ([name, time]: [string, unknown]) =>
    (name === "begin" || name === "end") && typeof time === "string" && isKmlTime(time);
  return entries.length > 0 && entries.every(fits) ? (value as Timespan) : null;
}
