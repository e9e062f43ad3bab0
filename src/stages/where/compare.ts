import { type Column, type Value, valueAt } from "../../model/column.js";
import { numberFromText } from "../fields/cast-value.js";

/** SQL's three-valued logic. */
export const TruthValue = { false: 0, true: 1, unknown: 2 } as const;

/** The order of two values; `none` if they cannot be compared, or one is null. */
export const Order = { none: 0, less: 1, equal: 2, greater: 4 } as const;

/** The place of a UTF-16 unit in the order of code points: surrogates stand after U+FFFF. */
const codePointRank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** By code point, which is also the order of the UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return Order.equal;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) < codePointRank(y) ? Order.less : Order.greater;
  }
  return a.length < b.length ? Order.less : Order.greater;
}

/** JavaScript compares a bigint with a number exactly. NaN stands in no order. */
export function compareNumbers(a: number | bigint, b: number | bigint): number {
  return a < b ? Order.less : a > b ? Order.greater : a >= b ? Order.equal : Order.none;
}

/** Text as a number: whole numbers of any size exactly; undefined if it is not one. */
function parseNumber(text: string): number | bigint | undefined {
  const trimmed = text.trim();
  if (/^[+-]?\d{16,}$/.test(trimmed)) return BigInt(trimmed.startsWith("+") ? trimmed.slice(1) : trimmed);
  return numberFromText(trimmed);
}

function parseBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : undefined;
}

const reverseOrder = (order: number): number =>
  order === Order.less ? Order.greater : order === Order.greater ? Order.less : order;

/**
 * - numbers by size, 64-bit ones exactly; true and false as 1 and 0;
 * - texts by code point; dates and times are ISO 8601 text;
 * - a number and a text: as numbers where the text is one, else not comparable;
 * - a boolean and a text: where the text is `true` or `false`, else not comparable;
 * - bytes with bytes; with anything else not comparable.
 */
export function compareValues(a: Value, b: Value): number {
  if (a === null || b === null) return Order.none;
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array ? 2 ** (Buffer.compare(a, b) + 1) : Order.none;
  }
  if (typeof a === "string") {
    if (typeof b === "string") return compareText(a, b);
    return reverseOrder(compareValues(b, a));
  }
  if (typeof b !== "string") {
    return compareNumbers(typeof a === "boolean" ? Number(a) : a, typeof b === "boolean" ? Number(b) : b);
  }
  if (typeof a === "boolean") {
    const truth = parseBoolean(b);
    return truth === undefined ? Order.none : compareNumbers(Number(a), Number(truth));
  }
  const number = parseNumber(b);
  return number === undefined ? Order.none : compareNumbers(a, number);
}

/** A JSON value as it compares: strings as text, numbers and booleans as such, the rest as its JSON text. */
function jsonScalarValue(text: string): Value {
  const trimmed = text.trim();
  switch (trimmed[0]) {
    case '"':
      return JSON.parse(trimmed) as string;
    case "t":
    case "f":
      return trimmed === "true";
    case "n":
      return null;
    case "{":
    case "[":
      return text;
    default:
      return parseNumber(trimmed) ?? text;
  }
}

/** The value as it compares: json by what it holds. */
export function scalarAt(column: Column, row: number): Value {
  const value = valueAt(column, row);
  return column.type === "json" && value !== null ? jsonScalarValue(value as string) : value;
}

/** The text that LIKE matches; null for null and for bytes. */
export function likeText(value: Value): string | null {
  return value === null || value instanceof Uint8Array ? null : String(value);
}

/** A value alone as a condition. */
export function toTruthValue(value: Value): number {
  if (value === null || value instanceof Uint8Array) return TruthValue.unknown;
  if (typeof value === "string") {
    const truth = parseBoolean(value);
    return truth === undefined ? TruthValue.unknown : Number(truth);
  }
  if (typeof value === "number" && Number.isNaN(value)) return TruthValue.unknown;
  return value ? TruthValue.true : TruthValue.false;
}
