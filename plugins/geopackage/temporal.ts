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

const [digit0, digit9, hyphen] = [0x30, 0x39, 0x2d];

/** Whether `bytes[from … to]` is a date, time or datetime as the type's canonical text has it (ISO 8601). */
export function isCanonical(type: "date" | "time" | "datetime", bytes: Buffer, from: number, to: number): boolean {
  if (type !== "date") return temporalType(bytes.toString("latin1", from, to)) === type;
  if (to - from !== 10 || bytes[from + 4] !== hyphen || bytes[from + 7] !== hyphen) return false;
  for (let at = from; at < to; at++) {
    if (at !== from + 4 && at !== from + 7 && (bytes[at]! < digit0 || bytes[at]! > digit9)) return false;
  }
  const month = 10 * bytes[from + 5]! + bytes[from + 6]! - 11 * digit0;
  const day = 10 * bytes[from + 8]! + bytes[from + 9]! - 11 * digit0;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
