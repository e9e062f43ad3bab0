import type { FieldType } from "../../src/model/field.js";
import { Temporal, temporalAt } from "./temporal.js";

/** What a cell could be, and by union, what a column holds. Bits. */
export const Sort = {
  blank: 0,
  boolean: 1,
  int32: 2,
  int64: 4,
  /** An int64 beyond 2^53, which a double would round. */
  wide: 8,
  double: 16,
  /** `NaN`, `inf` and their like: a number in a column of numbers, a word anywhere else. */
  nonFinite: 32,
  date: 64,
  time: 128,
  datetime: 256,
  text: 512,
} as const;

const integers = Sort.int32 | Sort.int64 | Sort.wide;
const numbers = integers | Sort.double;

/** The type that holds all values of the sorts seen. */
export function typeOf(sorts: number): FieldType {
  if (sorts === Sort.boolean) return "boolean";
  if ((sorts & ~(numbers | Sort.nonFinite)) === 0 && (sorts & numbers) !== 0) {
    if ((sorts & ~Sort.int32) === 0) return "int32";
    if ((sorts & ~integers) === 0) return "int64";
    return (sorts & Sort.wide) === 0 ? "double" : "text";
  }
  if (sorts === Sort.date) return "date";
  if (sorts === Sort.time) return "time";
  return sorts === Sort.datetime ? "datetime" : "text";
}

const zero = 48;
const minus = 45;
const int64Most = "9223372036854775807";
const int64Least = "9223372036854775808";

/** Text of ASCII letters in lower case; only for the few short words that need it. */
function lower(bytes: Uint8Array, from: number, to: number): string {
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i]! | 32);
  return text;
}

export function isNonFinite(bytes: Uint8Array, from: number, to: number): boolean {
  const start = bytes[from] === minus || bytes[from] === 43 ? from + 1 : from;
  const word = to - start === 3 || to - start === 8 ? lower(bytes, start, to) : "";
  return word === "nan" || word === "inf" || word === "infinity";
}

function integerSort(bytes: Uint8Array, from: number, to: number, negative: boolean): number {
  const digits = to - from;
  // A leading zero says that it is a label: a postcode, a code of a country.
  if (bytes[from] === zero && digits > 1) return Sort.text;
  // −0 is a number that no integer is.
  if (bytes[from] === zero && negative) return Sort.double;
  if (digits < 10) return Sort.int32;
  if (digits > 19) return Sort.text;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, digits).toString("latin1");
  if (digits === 19 && text > (negative ? int64Least : int64Most)) return Sort.text;
  const value = Number(text);
  if (value <= (negative ? 2147483648 : 2147483647)) return Sort.int32;
  return value > Number.MAX_SAFE_INTEGER ? Sort.int64 | Sort.wide : Sort.int64;
}

/**
 * The sort of `bytes[from … to]`, spaces around it left aside; `decimal` is the byte of the decimal sign. A number with
 * a leading `+` is text (telephone numbers), as is one with leading zeros, beyond int64, or beyond the range of doubles.
 */
export function classify(bytes: Uint8Array, from: number, to: number, decimal: number): number {
  let start = from;
  let end = to;
  while (start < end && bytes[start] === 32) start++;
  while (end > start && bytes[end - 1] === 32) end--;
  if (start === end) return Sort.blank;
  const first = bytes[start]!;
  const negative = first === minus;
  const digits = negative ? start + 1 : start;
  let i = digits;
  while (i < end && bytes[i]! - zero >= 0 && bytes[i]! - zero <= 9) i++;
  if (i === end && i > digits) return integerSort(bytes, digits, end, negative);
  const byte = bytes[i];
  if (i > digits || byte === decimal) {
    if (byte === decimal || (byte! | 32) === 101) return decimalSort(bytes, digits, i, end, decimal);
    return i > digits && !negative ? temporalSort(bytes, start, end) : Sort.text;
  }
  return wordSort(bytes, start, end);
}

function decimalSort(bytes: Uint8Array, digits: number, from: number, to: number, decimal: number): number {
  if (from - digits > 1 && bytes[digits] === zero) return Sort.text;
  let i = from;
  let count = from - digits;
  if (bytes[i] === decimal) {
    const after = ++i;
    while (i < to && bytes[i]! - zero >= 0 && bytes[i]! - zero <= 9) i++;
    count += i - after;
  }
  if (count === 0) return Sort.text;
  if (i === to) return Sort.double;
  if ((bytes[i]! | 32) !== 101) return Sort.text;
  i++;
  if (bytes[i] === minus || bytes[i] === 43) i++;
  const exponent = i;
  while (i < to && bytes[i]! - zero >= 0 && bytes[i]! - zero <= 9) i++;
  if (i < to || i === exponent) return Sort.text;
  // Beyond 1e308 there is no double, and what is not quite there is not worth the risk.
  if (i - exponent < 3 && count < 200) return Sort.double;
  const value = Number(lower(bytes, digits, to).replace(",", "."));
  return Number.isFinite(value) && (value !== 0 || !/[1-9]/.test(lower(bytes, digits, exponent)))
    ? Sort.double
    : Sort.text;
}

function temporalSort(bytes: Uint8Array, from: number, to: number): number {
  switch (temporalAt(bytes, from, to)) {
    case Temporal.date:
      return Sort.date;
    case Temporal.time:
      return Sort.time;
    case Temporal.datetime:
      return Sort.datetime;
    default:
      return Sort.text;
  }
}

function wordSort(bytes: Uint8Array, from: number, to: number): number {
  const size = to - from;
  if (size === 4 || size === 5) {
    const first = bytes[from]! | 32;
    if (first === 116 || first === 102) {
      const word = lower(bytes, from, to);
      if (word === "true" || word === "false") return Sort.boolean;
    }
  }
  return isNonFinite(bytes, from, to) ? Sort.nonFinite : Sort.text;
}
