/** PostgreSQL counts days and microseconds from 1 January 2000. */

import { type CalendarDate, dateFromDays, daysFromDate, isCalendarDate } from "../../src/model/index.js";

const daysTo2000 = 10957;
const microsPerDay = 86_400_000_000;

export const pad = (value: number, digits: number): string => String(value).padStart(digits, "0");

const date: CalendarDate = { year: 0, month: 0, day: 0 };

/** `YYYY-MM-DD`; null outside the years 0 to 9999 and for infinities. */
export function formatDate(days: number): string | null {
  dateFromDays(days + daysTo2000, date);
  const { year, month, day } = date;
  return year < 0 || year > 9999 ? null : `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** Days since 1 January 2000 of a valid date. */
export const daysSince2000 = (year: number, month: number, day: number): number =>
  daysFromDate(year, month, day) - daysTo2000;

/** `HH:MM:SS` with zero, three or six decimals as needed; null for 24:00. */
export function formatTime(micros: number): string | null {
  if (micros < 0 || micros >= microsPerDay) return null;
  const seconds = Math.floor(micros / 1_000_000);
  const rest = micros % 1_000_000;
  const decimals = rest === 0 ? "" : rest % 1000 === 0 ? `.${pad(rest / 1000, 3)}` : `.${pad(rest, 6)}`;
  return `${pad(Math.floor(seconds / 3600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}${decimals}`;
}

/** `YYYY-MM-DDTHH:MM:SS`; null for infinities and years beyond four digits. */
export function formatMoment(micros: bigint, zone: "" | "Z"): string | null {
  const whole = BigInt(microsPerDay);
  let days = micros / whole;
  if (days * whole > micros) days--;
  const date = formatDate(Number(days));
  return date === null ? null : `${date}T${formatTime(Number(micros - days * whole))}${zone}`;
}

const temporalPattern = /^(?:(\d{4})-(\d\d)-(\d\d))?T?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?$/;

/** A date, a time or both, converted to UTC if it has a zone. */
export interface Moment {
  readonly days: number;
  /** Since midnight; may be negative or exceed a day due to the zone. */
  readonly micros: number;
  readonly zoned: boolean;
  /** Whether its zone is not UTC. */
  readonly shifted: boolean;
  /** Whether it was truncated to microseconds. */
  readonly truncated: boolean;
}

/** Parses the text of a temporal field (model/field.ts); null for an invalid day. */
export function parseMoment(text: string): Moment | null {
  const found = temporalPattern.exec(text);
  if (!found) return null;
  const [, year = "2000", month = "01", day = "01", hour = "0", minute = "0", second = "0", decimals = "", zone] =
    found;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (!isCalendarDate(y, m, d)) return null;
  const offset = zone === undefined || zone === "Z" ? 0 : parseZoneMinutes(zone);
  const seconds = Number(hour) * 3600 + (Number(minute) - offset) * 60 + Number(second);
  return {
    days: daysSince2000(y, m, d),
    micros: seconds * 1_000_000 + Number(decimals.slice(0, 6).padEnd(6, "0")),
    zoned: zone !== undefined,
    shifted: offset !== 0,
    truncated: /[1-9]/.test(decimals.slice(6)),
  };
}

function parseZoneMinutes(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return zone.startsWith("-") ? -minutes : minutes;
}

export const totalMicros = ({ days, micros }: Moment): bigint => BigInt(days) * BigInt(microsPerDay) + BigInt(micros);
