import type { FieldType } from "../../../../src/model/field.js";
import { classifyTemporal, TemporalKind } from "./temporal.js";

/** Bits for the possible types of a cell; their union describes a column. */
export const CellTypeFlag = {
  blank: 0,
  boolean: 1,
  int32: 2,
  int64: 4,
  /** An int64 beyond 2^53, which a double would round. */
  wide: 8,
  double: 16,
  /** `NaN`, `inf` and similar: a number in a numeric column, a word in any other. */
  nonFinite: 32,
  date: 64,
  time: 128,
  datetime: 256,
  text: 512,
  /** In tables with typed cells: text that is a date, time or datetime in ISO 8601 form. */
  dateText: 64 << 15,
  timeText: 128 << 15,
  datetimeText: 256 << 15,
} as const;

const temporalFlags = CellTypeFlag.date | CellTypeFlag.time | CellTypeFlag.datetime;
const temporalTextFlags = CellTypeFlag.dateText | CellTypeFlag.timeText | CellTypeFlag.datetimeText;
const temporalTextShift = 15;

const integerFlags = CellTypeFlag.int32 | CellTypeFlag.int64 | CellTypeFlag.wide;
const numberFlags = integerFlags | CellTypeFlag.double;

/** The type that holds all values with these flags. */
export function inferFieldType(flags: number): FieldType {
  if (flags === CellTypeFlag.boolean) return "boolean";
  if ((flags & ~(numberFlags | CellTypeFlag.nonFinite)) === 0 && (flags & numberFlags) !== 0) {
    if ((flags & ~CellTypeFlag.int32) === 0) return "int32";
    if ((flags & ~integerFlags) === 0) return "int64";
    return (flags & CellTypeFlag.wide) === 0 ? "double" : "text";
  }
  if (flags === CellTypeFlag.date) return "date";
  if (flags === CellTypeFlag.time) return "time";
  return flags === CellTypeFlag.datetime ? "datetime" : "text";
}

/** The flag of a text cell in a table with typed cells. */
export function classifyTextCell(bytes: Uint8Array, from: number, to: number): number {
  const digit = bytes[from]! - zero;
  if (!(digit >= 0 && digit <= 9)) return CellTypeFlag.text;
  const flag = temporalFlag(bytes, from, to);
  return flag === CellTypeFlag.text ? flag : flag << temporalTextShift;
}

/** The flag of the value that text has which `classifyTextCell` found to be a date or time. */
export const temporalOfText = (flag: number): number => flag >> temporalTextShift;

/**
 * The flags of a column of typed cells: beside dates or times, text of that form is one, too, since spreadsheets hold
 * dates before 1900 as text. Elsewhere it is text.
 */
export function resolveTemporalTexts(flags: number): number {
  const texts = flags & temporalTextFlags;
  if (texts === 0) return flags;
  const others = flags & ~texts;
  const isTemporal = others !== 0 && (others & ~temporalFlags) === 0;
  return isTemporal ? others | (texts >> temporalTextShift) : others | CellTypeFlag.text;
}

const zero = 48;
const minus = 45;
const maxInt64Digits = "9223372036854775807";
const minInt64Digits = "9223372036854775808";

/** ASCII text in lower case; used only for short words. */
function toLowerAscii(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i]! | 32);
  return text;
}

export function isNonFinite(bytes: Uint8Array, from: number, to: number): boolean {
  const start = bytes[from] === minus || bytes[from] === 43 ? from + 1 : from;
  const word = to - start === 3 || to - start === 8 ? toLowerAscii(bytes, start, to) : "";
  return word === "nan" || word === "inf" || word === "infinity";
}

function integerFlag(bytes: Uint8Array, from: number, to: number, negative: boolean): number {
  const digits = to - from;
  // A leading zero marks a label, such as a postcode or country code.
  if (bytes[from] === zero && digits > 1) return CellTypeFlag.text;
  // An integer cannot represent −0.
  if (bytes[from] === zero && negative) return CellTypeFlag.double;
  if (digits < 10) return CellTypeFlag.int32;
  if (digits > 19) return CellTypeFlag.text;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, digits).toString("latin1");
  if (digits === 19 && text > (negative ? minInt64Digits : maxInt64Digits)) return CellTypeFlag.text;
  const value = Number(text);
  if (value <= (negative ? 2147483648 : 2147483647)) return CellTypeFlag.int32;
  return value > Number.MAX_SAFE_INTEGER ? CellTypeFlag.int64 | CellTypeFlag.wide : CellTypeFlag.int64;
}

/**
 * Classifies `bytes[from … to]` without the spaces around it; `decimal` is the byte of the decimal sign. A number is
 * text if it has a leading `+` (telephone numbers), leading zeros, or a value beyond int64 or the range of doubles.
 */
export function classifyCell(bytes: Uint8Array, from: number, to: number, decimal: number): number {
  let start = from;
  let end = to;
  while (start < end && bytes[start] === 32) start++;
  while (end > start && bytes[end - 1] === 32) end--;
  if (start === end) return CellTypeFlag.blank;
  const first = bytes[start]!;
  const negative = first === minus;
  const digits = negative ? start + 1 : start;
  let i = digits;
  while (i < end && bytes[i]! - zero >= 0 && bytes[i]! - zero <= 9) i++;
  if (i === end && i > digits) return integerFlag(bytes, digits, end, negative);
  const byte = bytes[i];
  if (i > digits || byte === decimal) {
    if (byte === decimal || (byte! | 32) === 101) return decimalFlag(bytes, digits, i, end, decimal);
    return i > digits && !negative ? temporalFlag(bytes, start, end) : CellTypeFlag.text;
  }
  return wordFlag(bytes, start, end);
}

function decimalFlag(bytes: Uint8Array, digits: number, from: number, to: number, decimal: number): number {
  if (from - digits > 1 && bytes[digits] === zero) return CellTypeFlag.text;
  let i = from;
  let count = from - digits;
  if (bytes[i] === decimal) {
    const after = ++i;
    while (i < to && bytes[i]! - zero >= 0 && bytes[i]! - zero <= 9) i++;
    count += i - after;
  }
  if (count === 0) return CellTypeFlag.text;
  if (i === to) return CellTypeFlag.double;
  if ((bytes[i]! | 32) !== 101) return CellTypeFlag.text;
  i++;
  if (bytes[i] === minus || bytes[i] === 43) i++;
  const exponent = i;
  while (i < to && bytes[i]! - zero >= 0 && bytes[i]! - zero <= 9) i++;
  if (i < to || i === exponent) return CellTypeFlag.text;
  // Doubles end near 1e308; the limit here is conservative.
  if (i - exponent < 3 && count < 200) return CellTypeFlag.double;
  const value = Number(toLowerAscii(bytes, digits, to).replace(",", "."));
  return Number.isFinite(value) && (value !== 0 || !/[1-9]/.test(toLowerAscii(bytes, digits, exponent)))
    ? CellTypeFlag.double
    : CellTypeFlag.text;
}

function temporalFlag(bytes: Uint8Array, from: number, to: number): number {
  switch (classifyTemporal(bytes, from, to)) {
    case TemporalKind.date:
      return CellTypeFlag.date;
    case TemporalKind.time:
      return CellTypeFlag.time;
    case TemporalKind.datetime:
      return CellTypeFlag.datetime;
    default:
      return CellTypeFlag.text;
  }
}

function wordFlag(bytes: Uint8Array, from: number, to: number): number {
  const size = to - from;
  if (size === 4 || size === 5) {
    const first = bytes[from]! | 32;
    if (first === 116 || first === 102) {
      const word = toLowerAscii(bytes, from, to);
      if (word === "true" || word === "false") return CellTypeFlag.boolean;
    }
  }
  return isNonFinite(bytes, from, to) ? CellTypeFlag.nonFinite : CellTypeFlag.text;
}
