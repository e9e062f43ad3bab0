/** Converts OGR dates and times to ISO 8601. */
import { isCalendarDate } from "../../../src/model/index.js";

/** Date parts of gdal-async, which omits zeros. `timezone` is OGR's flag: 0 unknown, 1 local, 100 UTC ± quarter hours. */
export interface DateParts {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
  readonly hour?: number;
  readonly minute?: number;
  readonly second?: number;
  readonly timezone?: number;
}

type TemporalType = "date" | "time" | "datetime";

const padTwo = (value: number): string => String(value).padStart(2, "0");

/** OGR's time zone flag as an offset; empty if unknown or local. */
function formatOffset(flag: number): string {
  if (flag <= 1) return "";
  const minutes = (flag - 100) * 15;
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${padTwo(Math.floor(size / 60))}:${padTwo(size % 60)}`;
}

/** Null if the calendar has no such day. */
export function partsToIso(type: TemporalType, parts: DateParts): string | null {
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, timezone = 0 } = parts;
  const time = `${padTwo(hour)}:${padTwo(minute)}:${padTwo(second)}`;
  if (type === "time") return time;
  if (!isCalendarDate(year, month, day)) return null;
  const date = `${String(year).padStart(4, "0")}-${padTwo(month)}-${padTwo(day)}`;
  return type === "date" ? date : `${date}T${time}${formatOffset(timezone)}`;
}

const ogrTemporalPattern =
  /^(?:(\d{1,4})\/(\d{1,2})\/(\d{1,2}))?\s*(?:(\d{1,2}):(\d{2}):(\d{2})(\.\d+)?(?:([+-])(\d{2}):?(\d{2})?)?)?$/;

/** Parses OGR's text form, `2020/01/02 10:11:12.345+02`; null if invalid, as is a day that the calendar lacks. */
export function textToIso(type: TemporalType, text: string): string | null {
  const found = ogrTemporalPattern.exec(text);
  if (!found) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", sign, hours, minutes] = found;
  const time = `${hour.padStart(2, "0")}:${minute}:${second}${fraction}`;
  if (type === "time") return time;
  if (year === undefined || !isCalendarDate(Number(year), Number(month), Number(day))) return null;
  const date = `${year.padStart(4, "0")}-${month!.padStart(2, "0")}-${day!.padStart(2, "0")}`;
  if (type === "date") return date;
  const isUtc = Number(hours) === 0 && Number(minutes ?? 0) === 0;
  const offset = sign === undefined ? "" : isUtc ? "Z" : `${sign}${hours}:${minutes ?? "00"}`;
  return `${date}T${time}${offset}`;
}
