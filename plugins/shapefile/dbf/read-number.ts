import { powersOfTen } from "../../shared/text/exact-doubles.js";
import { parseNumber } from "../../shared/text/parse-number.js";

/** The state of a numeric cell, beside its value. */
export const NumericCellState = { number: 0, blank: 1, unreadable: 2 } as const;

/** The state that the last call of `readNumber` found. */
export let lastCellState: number = NumericCellState.number;

/** The cell's text, for values that the fast path cannot read exactly, and for messages. */
export function cellText(bytes: Buffer, from: number, to: number): string {
  return bytes.toString("latin1", from, to).replace(/\0.*$/s, "").trim();
}

/**
 * Parses `bytes[from … to]`: digits with spaces around them, a decimal point or comma, an exponent. Blank cells and
 * overflowed ones (`***`) are not numbers; `lastCellState` distinguishes them. The result is exact: up to 15 digits are
 * one division of two exact doubles (W. D. Clinger, "How to read floating point numbers accurately", 1990); longer
 * numbers use Number.
 */
export function readNumber(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] === 32 || bytes[at] === 9)) at++;
  const first = bytes[at];
  if (at === to || first === 0 || first === 42) {
    lastCellState = NumericCellState.blank;
    return Number.NaN;
  }
  lastCellState = NumericCellState.number;
  const start = at;
  const negative = first === 45;
  if (negative || first === 43) at++;
  let mantissa = 0;
  let digits = 0;
  let decimals = 0;
  // Trailing zeros of a fraction do not count as digits; a column of 15 decimals is full of them.
  let zeros = 0;
  let pointAt = -1;
  let any = false;
  for (; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === 48 && pointAt >= 0) {
      any = true;
      zeros++;
    } else if (byte >= 48 && byte <= 57) {
      for (; zeros > 0; zeros--) {
        mantissa *= 10;
        if (mantissa > 0) digits++;
        decimals++;
      }
      mantissa = mantissa * 10 + byte - 48;
      any = true;
      if (mantissa > 0) digits++;
      if (pointAt >= 0) decimals++;
    } else if ((byte === 46 || byte === 44) && pointAt < 0) pointAt = at;
    else break;
  }
  let end = at;
  while (end < to && (bytes[end] === 32 || bytes[end] === 9)) end++;
  if (any && (end === to || bytes[end] === 0)) {
    if (digits <= 15 && decimals <= 22) {
      const value = decimals === 0 ? mantissa : mantissa / powersOfTen[decimals]!;
      return negative ? -value : value;
    }
    if (pointAt < 0 || bytes[pointAt] === 46) return parseNumber(bytes, start, at);
  }
  const text = cellText(bytes, start, to).replace(",", ".");
  const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) lastCellState = NumericCellState.unreadable;
  return value;
}
