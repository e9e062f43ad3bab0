import { type FieldType, temporalType } from "../../../src/model/index.js";

/** The forms of a text. The forms of all values together decide a field's type. */
export const ValueForm = {
  boolean: 1,
  int32: 2,
  /** An integer that a double holds exactly. */
  int53: 4,
  int64: 8,
  double: 16,
  nonFinite: 32,
  date: 64,
  time: 128,
  datetime: 256,
  text: 512,
  /** An integer beyond 32 bits as geoferry's writer has it: with a decimal point, for readers without 64-bit integers. */
  wide: 1024,
  /** An integer beyond 64 bits: a number where a double is declared, else an identifier. */
  beyond: 2048,
} as const;

const safeDigits = 15;
const maxDigits = 18;
const zero = 48;

/** Returns the form of `bytes[from … to]`, which is not empty. A number with a leading zero or a plus is a text. */
export function classifyValue(bytes: Buffer, from: number, to: number): number {
  const first = bytes[from]!;
  const isNumeric = (first >= zero && first <= 57) || first === 45 || first === 46;
  const isInfinite = first === 45 && from + 1 < to && bytes[from + 1] === 73;
  if (!isNumeric || isInfinite) return wordForm(bytes, from, to);
  let at = first === 45 ? from + 1 : from;
  const start = at;
  while (at < to && isDigit(bytes[at]!)) at++;
  const digits = at - start;
  if (digits > 1 && bytes[start] === zero) return temporalForm(bytes, from, to);
  if (at === to) return integerForm(bytes, from, to, digits);
  if (bytes[at] !== 46 && (bytes[at]! | 32) !== 101) return temporalForm(bytes, from, to);
  if (digits > 9 && to - at === 2 && bytes[at] === 46 && bytes[at + 1] === zero) {
    return integerForm(bytes, from, at, digits) === ValueForm.beyond ? ValueForm.double : ValueForm.wide;
  }
  return isPlainDecimal(bytes, at, digits, to) || isDecimal(bytes, start, to) ? ValueForm.double : ValueForm.text;
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= 57;

function integerForm(bytes: Buffer, from: number, to: number, digits: number): number {
  if (digits === 0) return ValueForm.text;
  if (bytes[from] === 45 && bytes[from + 1] === zero) return ValueForm.double;
  if (digits <= 9) return ValueForm.int32;
  if (digits > maxDigits) return longIntegerForm(bytes.toString("latin1", from, to));
  const value = Number(bytes.toString("latin1", from, to));
  if (value === (value | 0)) return ValueForm.int32;
  return digits <= safeDigits ? ValueForm.int53 : ValueForm.int64;
}

function longIntegerForm(text: string): number {
  if (text.length > 20) return ValueForm.beyond;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? ValueForm.int64 : ValueForm.beyond;
}

/** Whether `before` digits, a decimal point at `at` and only digits make a number, as for nearly all decimals. */
function isPlainDecimal(bytes: Buffer, at: number, before: number, to: number): boolean {
  const decimals = to - at - 1;
  if (bytes[at] !== 46 || before === 0 || before + decimals > safeDigits) return false;
  let i = at + 1;
  while (i < to && isDigit(bytes[i]!)) i++;
  return i === to;
}

/** More digits than a double holds indicate an identifier, not a measurement. */
function isDecimal(bytes: Buffer, from: number, to: number): boolean {
  const text = bytes.toString("latin1", from, to);
  const parts = /^(\d*)(?:\.(\d*))?(?:e[+-]?\d{1,3})?$/i.exec(text);
  if (!parts || (parts[1] === "" && (parts[2] ?? "") === "")) return false;
  return parts[1]!.length + (parts[2]?.length ?? 0) <= 25 && Number.isFinite(Number(text));
}

function temporalForm(bytes: Buffer, from: number, to: number): number {
  if (isPlainInstant(bytes, from, to)) return ValueForm.datetime;
  if (to - from > 40) return ValueForm.text;
  const type = temporalType(bytes.toString("latin1", from, to));
  return type === null ? ValueForm.text : ValueForm[type];
}

/** Whether the text has the form `2024-05-06T07:08:09Z`, like nearly all times in GPX. Other times need a full check. */
function isPlainInstant(bytes: Buffer, from: number, to: number): boolean {
  if (to - from !== 20) return false;
  for (let i = 0; i < 20; i++) {
    const byte = bytes[from + i]!;
    const wanted = instantTemplate[i]!;
    if (wanted === zero ? !isDigit(byte) : byte !== wanted) return false;
  }
  const pair = (at: number) => (bytes[from + at]! - zero) * 10 + bytes[from + at + 1]! - zero;
  const month = pair(5);
  const day = pair(8);
  // Later days, which not every month has, need the full check.
  return month >= 1 && month <= 12 && day >= 1 && day <= 28 && pair(11) < 24 && pair(14) < 60 && pair(17) < 60;
}

const instantTemplate = Buffer.from("0000-00-00T00:00:00Z");

function wordForm(bytes: Buffer, from: number, to: number): number {
  if (to - from > 5) return ValueForm.text;
  const word = bytes.toString("latin1", from, to);
  if (word === "true" || word === "false") return ValueForm.boolean;
  return word === "NaN" || word === "INF" || word === "-INF" ? ValueForm.nonFinite : ValueForm.text;
}

/** The forms that a column of a type accepts. */
const formsByType: Readonly<Record<FieldType, number>> = {
  boolean: ValueForm.boolean,
  int32: ValueForm.int32,
  int64: ValueForm.int32 | ValueForm.int53 | ValueForm.int64 | ValueForm.wide,
  double:
    ValueForm.int32 |
    ValueForm.int53 |
    ValueForm.int64 |
    ValueForm.double |
    ValueForm.nonFinite |
    ValueForm.wide |
    ValueForm.beyond,
  date: ValueForm.date,
  time: ValueForm.time,
  datetime: ValueForm.datetime,
  text: -1,
  json: -1,
  binary: -1,
};
const guessOrder: readonly FieldType[] = ["boolean", "int32", "int64", "date", "time", "datetime"];

/** Returns `declared` where all forms fit it, else text. */
export const fittingType = (forms: number, declared: FieldType): FieldType =>
  (forms & ~formsByType[declared]) === 0 ? declared : "text";

/** Returns the type for values of these forms where none is declared. */
export function guessType(forms: number): FieldType {
  if (forms === 0) return "text";
  const found = (forms & ValueForm.wide) === 0 && guessOrder.find((type) => (forms & ~formsByType[type]) === 0);
  if (found) return found;
  const exact = ValueForm.int32 | ValueForm.int53 | ValueForm.double | ValueForm.wide;
  return (forms & ~exact) === 0 ? "double" : "text";
}
