import { temporalType } from "../../src/model/index.js";

const pattern =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

const two = (digits: string) => digits.padStart(2, "0");

function offsetOf(text: string | undefined): string {
  if (text === undefined) return "";
  if (/^z$/i.test(text)) return "Z";
  return `${text.slice(0, 3)}:${text.slice(3).replace(":", "") || "00"}`;
}

/** A date that is written in another way than OGC 12-128r19, Table 1 asks for; null where nothing else can be meant. */
export function dateOf(text: string): string | null {
  const found = pattern.exec(text);
  if (!found) return null;
  const [, year, month, day, hour, minute, second, fraction] = found;
  const midnight = [hour, minute, second, fraction?.slice(1)].every((part) => part === undefined || Number(part) === 0);
  const date = `${year}-${two(month!)}-${two(day!)}`;
  return midnight && temporalType(date) === "date" ? date : null;
}

/** A date and time that is written in another way, as SQLite's own functions or without seconds. */
export function datetimeOf(text: string): string | null {
  const found = pattern.exec(text);
  if (!found) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", offset] = found;
  const canonical = `${year}-${two(month!)}-${two(day!)}T${two(hour)}:${minute}:${second}${fraction}${offsetOf(offset)}`;
  return temporalType(canonical) === "datetime" ? canonical : null;
}

export function timeOf(text: string): string | null {
  const found = /^(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?$/.exec(text);
  if (!found) return null;
  const [, hour, minute, second = "00", fraction = ""] = found;
  const canonical = `${two(hour!)}:${minute}:${second}${fraction}`;
  return temporalType(canonical) === "time" ? canonical : null;
}
