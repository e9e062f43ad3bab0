import { type FieldType, temporalType } from "../../../src/model/index.js";
import { parseNumber } from "../../shared/text/parse-number.js";

/** KML's types (OGC 07-147r2, 9.8.4.2.1) and other words for them in files; all others are text. */
const kmlTypes: Readonly<Record<string, FieldType>> = {
  bool: "boolean",
  boolean: "boolean",
  int: "int32",
  integer: "int32",
  short: "int32",
  ushort: "int32",
  uint: "int64",
  float: "double",
  double: "double",
};

export const fieldTypeOfKmlType = (type: string): FieldType =>
  kmlTypes[
    type
      .trim()
      .toLowerCase()
      .replace(/^xsd?:/, "")
  ] ?? "text";

/** The types that a text may have, as bits; those of all values together determine a column's type. */
export const TextLookFlag = { empty: 1, flag: 2, int32: 4, int64: 8, double: 16, word: 32, other: 64 } as const;

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 9 || byte === 13;
const booleanWords = new Set(["true", "false"]);
export const specialNumbers: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  "+inf": Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
};

export function classifyText(bytes: Buffer, start: number, end: number): number {
  let from = start;
  let to = end;
  while (from < to && isSpace(bytes[from]!)) from++;
  while (to > from && isSpace(bytes[to - 1]!)) to--;
  if (from === to) return TextLookFlag.empty;
  const first = bytes[from]! === 45 || bytes[from]! === 43 ? from + 1 : from;
  let i = first;
  let value = 0;
  while (i < to && bytes[i]! >= 48 && bytes[i]! <= 57) value = value * 10 + bytes[i++]! - 48;
  if (i === to && i > first) {
    const isNegative = bytes[from] === 45;
    if (value <= 1 && !isNegative) return TextLookFlag.flag;
    if (value <= (isNegative ? 2147483648 : 2147483647)) return TextLookFlag.int32;
    if (value < 9e18) return TextLookFlag.int64;
    return isLong(bytes.toString("latin1", from, to)) ? TextLookFlag.int64 : TextLookFlag.double;
  }
  if (Number.isFinite(parseNumber(bytes, from, to))) return TextLookFlag.double;
  if (to - from > 5) return TextLookFlag.other;
  const word = bytes.toString("latin1", from, to).toLowerCase();
  if (booleanWords.has(word)) return TextLookFlag.word;
  return Object.hasOwn(specialNumbers, word) ? TextLookFlag.double : TextLookFlag.other;
}

function isLong(digits: string): boolean {
  const value = BigInt(digits.replace(/^\+/, ""));
  return value >= -(2n ** 63n) && value < 2n ** 63n;
}

const booleanLooks = TextLookFlag.empty | TextLookFlag.flag | TextLookFlag.word;
const int32Looks = TextLookFlag.empty | TextLookFlag.flag | TextLookFlag.int32;
const int64Looks = int32Looks | TextLookFlag.int64;
const doubleLooks = int64Looks | TextLookFlag.double;
const isWithin = (looks: number, allowed: number): boolean => (looks & ~allowed) === 0;

/** Returns the narrowest type, not narrower than `type`, that holds every value. */
export function widenType(type: FieldType, looks: number): FieldType {
  switch (type) {
    case "boolean":
      return isWithin(looks, booleanLooks) ? type : "text";
    case "int32":
      if (isWithin(looks, int32Looks)) return type;
      return isWithin(looks, int64Looks)
        ? "int64"
        : isWithin(looks, doubleLooks & ~TextLookFlag.int64)
          ? "double"
          : "text";
    case "int64":
      return isWithin(looks, int64Looks) ? type : "text";
    case "double":
      return isWithin(looks, doubleLooks) ? type : "text";
    default:
      return type;
  }
}

/** Whether a text is a value of a type that KML does not have and geoferry declares for a field. */
export function isOfType(type: FieldType, text: string): boolean {
  switch (type) {
    case "date":
    case "time":
    case "datetime":
      return temporalType(text) === type;
    case "json":
      return isJson(text);
    case "binary":
      return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
    default:
      return true;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const numericOrder: readonly FieldType[] = ["boolean", "int32", "int64", "double"];

/** Returns the type of a field with values of two types: the wider of two numeric types, else text. */
export function commonType(types: Iterable<FieldType>): FieldType {
  let met: FieldType | null = null;
  for (const type of types) {
    if (met === null || met === type) met = type;
    else {
      const at = Math.max(numericOrder.indexOf(met), numericOrder.indexOf(type));
      met = numericOrder.includes(met) && numericOrder.includes(type) ? numericOrder[at]! : "text";
    }
  }
  return met ?? "text";
}
