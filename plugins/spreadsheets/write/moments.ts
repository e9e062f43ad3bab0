import { isCalendarDate } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/format.js";
import type { TemporalType } from "./cell-writer.js";

/** A date, time or datetime. */
export interface Moment {
  /** Days since 1970-01-01; null for a time. */
  readonly day: number | null;
  /** Milliseconds of the day. */
  readonly ms: number;
  /** Whether there are fractions beyond milliseconds. */
  readonly isRounded: boolean;
  readonly hasZone: boolean;
}

const pattern = /^(?:(\d{4})-(\d\d)-(\d\d))?T?(?:(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:?\d\d)?$/;
const dayMs = 86_400_000;

/** Splits the canonical text; null if it is not of this type, or no day of the calendar from the year 100 on. */
export function splitMoment(bytes: Uint8Array, from: number, to: number, type: TemporalType): Moment | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  const match = pattern.exec(text);
  if (!match) return null;
  const [, year, month, date, hours, minutes, seconds, fraction = "", zone] = match;
  if ((year !== undefined) !== (type !== "time") || (hours !== undefined) !== (type !== "date")) return null;
  const clock = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  const ms = clock * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
  // A leap second has no place in a day of a spreadsheet.
  if (ms >= dayMs) return null;
  // Date.UTC takes years below 100 for those of a century, and a day that its month lacks for one of the next.
  const exists = Number(year) >= 100 && isCalendarDate(Number(year), Number(month), Number(date));
  if (year !== undefined && !exists) return null;
  const day = year === undefined ? null : Date.UTC(Number(year), Number(month) - 1, Number(date)) / dayMs;
  return { day, ms, isRounded: /[1-9]/.test(fraction.slice(3)), hasZone: zone !== undefined };
}

export function reportZone(context: Pick<WriteContext, "reportLoss">, field: string): void {
  context.reportLoss("time-zone-dropped", field, "a spreadsheet keeps the clock time and not its time zone");
}
