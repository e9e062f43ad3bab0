import { temporalType } from "../../../src/model/index.js";

const temporalPattern =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

const padTwo = (digits: string) => digits.padStart(2, "0");

function parseOffset(text: string | undefined): string {
  if (text === undefined) return "";
  if (/^z$/i.test(text)) return "Z";
  return `${text.slice(0, 3)}:${text.slice(3).replace(":", "") || "00"}`;
}

/** Parses dates in other forms than OGC 12-128r19, Table 1; null if the text is not an unambiguous date. */
export function parseLooseDate(text: string): string | null {
  const found = temporalPattern.exec(text);
  if (!found) return null;
  const [, year, month, day, hour, minute, second, fraction] = found;
  const midnight = [hour, minute, second, fraction?.slice(1)].every((part) => part === undefined || Number(part) === 0);
  const date = `${year}-${padTwo(month!)}-${padTwo(day!)}`;
  return midnight && temporalType(date) === "date" ? date : null;
}

/** Parses datetimes in other forms, such as those of SQLite's functions or without seconds. */
export function parseLooseDatetime(text: string): string | null {
  const found = temporalPattern.exec(text);
  if (!found) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", offset] = found;
  const canonical = `${year}-${padTwo(month!)}-${padTwo(day!)}T${padTwo(hour)}:${minute}:${second}${fraction}${parseOffset(offset)}`;
  return temporalType(canonical) === "datetime" ? canonical : null;
}

export function parseLooseTime(text: string): string | null {
  const found = /^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?$/.exec(text);
  if (!found) return null;
  const [, hour, minute, second = "00", fraction = ""] = found;
  const canonical = `${padTwo(hour!)}:${minute}:${second}${fraction}`;
  return temporalType(canonical) === "time" ? canonical : null;
}
