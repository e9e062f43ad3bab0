import { temporalType } from "../../src/model/index.js";

const yearOrMonth = /^\d{4}(-(0[1-9]|1[0-2]))?$/;

/** Whether a text is a time as KML has it: a year, a month, a date, or a date and time (OGC 07-147r2, 16.1). */
export function isKmlTime(text: string): boolean {
  if (yearOrMonth.test(text)) return true;
  const type = temporalType(text);
  return type === "date" || type === "datetime";
}

/** A TimeSpan as @tmcw/togeojson says it; an open end is left out. */
export interface Timespan {
  readonly begin?: string;
  readonly end?: string;
}

/** The TimeSpan that a JSON value is, null where it says something that a TimeSpan cannot. */
export function timespanOf(json: string): Timespan | null {
  const value = JSON.parse(json) as unknown;
  if (typeof value !== "object" || value === null) return null;
  const entries = Object.entries(value);
  const fits = ([name, time]: [string, unknown]) =>
    (name === "begin" || name === "end") && typeof time === "string" && isKmlTime(time);
  return entries.length > 0 && entries.every(fits) ? (value as Timespan) : null;
}
