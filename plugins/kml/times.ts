import { temporalType } from "../../src/model/index.js";

const yearOrMonth = /^\d{4}(-(0[1-9]|1[0-2]))?$/;

/** Whether a text is a time of KML: a year, a month, a date, or a date and time (OGC 07-147r2, 16.1). */
export function isKmlTime(text: string): boolean {
  if (text.startsWith("0000")) return false;
  if (yearOrMonth.test(text)) return true;
  const type = temporalType(text);
  return (type === "date" || type === "datetime") && !outOfRangeZone.test(text.slice(10));
}

/** The offset of a zone is at most 14 hours (XML Schema, part 2, 3.2.7.3). */
const outOfRangeZone = /[+-](1[5-9]|2\d|14:(?!00))[:\d]*$/;

/** A TimeSpan in the form of @tmcw/togeojson; an open end has no member. */
export interface Timespan {
  readonly begin?: string;
  readonly end?: string;
}

/** Converts a JSON value to a TimeSpan; null where it has more than a TimeSpan can hold. */
export function parseTimespan(json: string): Timespan | null {
  const value = JSON.parse(json) as unknown;
  if (typeof value !== "object" || value === null) return null;
  const entries = Object.entries(value);
  const fits = ([name, time]: [string, unknown]) =>
    (name === "begin" || name === "end") && typeof time === "string" && isKmlTime(time);
  return entries.length > 0 && entries.every(fits) ? (value as Timespan) : null;
}
