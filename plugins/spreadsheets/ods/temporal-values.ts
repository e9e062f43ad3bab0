import { formatDuration } from "../xlsx/serial-dates.js";

const fractionOf = (digits: string | undefined): string => {
  const kept = (digits ?? "").replace(/0+$/, "");
  return kept === "" ? "" : `.${kept}`;
};

/** A date or datetime (ODF 1.3, 18.2) in canonical form; null if it is none. */
export function canonicalMoment(text: string): string | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\d*(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (!match) return null;
  const [, date, clock, fraction, zone = ""] = match;
  return clock === undefined ? date! : `${date}T${clock}${fractionOf(fraction)}${zone}`;
}

/** A duration, as spreadsheets have times of day: the clock time, or the canonical duration; null if it is none. */
export function parseDuration(text: string, isDuration: boolean): string | null {
  const match = /^(-?)P(?:(\d{1,6})D)?T?(?:(\d{1,7})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,](\d{1,9}))?\d*S)?$/.exec(text);
  if (!match || text.endsWith("P") || text.endsWith("T")) return null;
  const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0, fraction] = match;
  const whole = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const rest = fractionOf(fraction);
  if (!isDuration && sign === "" && whole < 86_400) {
    const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
    return `${two(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}${rest}`;
  }
  const ms = Math.round((whole + Number(`0${rest}`)) * 1000);
  return formatDuration(sign === "" ? ms : -ms);
}
