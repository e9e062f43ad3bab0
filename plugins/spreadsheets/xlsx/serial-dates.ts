/** Dates as numbers of days (ECMA-376-1, 18.17.4). */
import { NumberKind } from "./number-formats.js";

const dayMs = 86_400_000;
/** Days from 1899-12-30 and from 1904-01-01 to 1970-01-01. */
const unixDay1900 = 25_569;
const unixDay1904 = 24_107;
/** The system of 1900 has a day 60, 1900-02-29, which did not exist; the days before it are one less. */
const leapYearBugDay = 60;
/** 9999-12-31 in the system of 1900. */
const lastDay = 2_958_465;
/** 0001-01-01, counted from 1899-12-30. Excel shows no dates before day 0; LibreOffice and openpyxl write them as negative numbers. */
const firstDay = -693_593;
/** Days between both systems. */
const days1904 = 1462;

const two = (value: number) => String(value).padStart(2, "0");

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const rest = ms % 1000;
  const fraction = rest === 0 ? "" : `.${String(rest).padStart(3, "0").replace(/0+$/, "")}`;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}

/** ISO 8601, 5.5.2: `PT36H30M`. */
export function formatDuration(milliseconds: number): string {
  const ms = Math.abs(milliseconds);
  const seconds = (ms % 60_000) / 1000;
  const minutes = Math.floor(ms / 60_000) % 60;
  const hours = Math.floor(ms / 3_600_000);
  const parts = [hours > 0 ? `${hours}H` : "", minutes > 0 ? `${minutes}M` : "", seconds > 0 ? `${seconds}S` : ""].join(
    "",
  );
  return `${milliseconds < 0 ? "-" : ""}PT${parts === "" ? "0S" : parts}`;
}

/**
 * The text of a number that is shown as a date or time: ISO 8601. Null if it is no day of the calendar; undefined if it
 * is out of the range of dates, and then is a number.
 */
export function formatSerial(value: number, kind: number, is1904: boolean): string | null | undefined {
  // Excel's times have milliseconds.
  const ms = Math.round(value * dayMs);
  if (kind === NumberKind.duration) return formatDuration(ms);
  const day = Math.floor(ms / dayMs);
  const time = ms - day * dayMs;
  const offset = is1904 ? days1904 : 0;
  if (day < firstDay - offset || day > lastDay - offset || (day < 0 && kind === NumberKind.time)) return undefined;
  if (day === 0 && (kind === NumberKind.time || (!is1904 && time > 0))) return clock(time);
  if (!is1904 && (day === 0 || day === leapYearBugDay)) return null;
  const unixDay = is1904 ? day - unixDay1904 : day - unixDay1900 + (day >= 0 && day < leapYearBugDay ? 1 : 0);
  const date = new Date(unixDay * dayMs).toISOString().slice(0, 10);
  return time === 0 && (kind === NumberKind.date || kind === NumberKind.either) ? date : `${date}T${clock(time)}`;
}
