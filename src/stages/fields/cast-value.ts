import { daysInMonth } from "../../model/calendar.js";
import type { BytesType, Value } from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
import { temporalType } from "../../model/layer-summary.js";

/** Counts the losses of casting a column by code, with the first example of each. */
export class CastLosses {
  readonly byCode = new Map<string, { count: number; example: string }>();

  /** Counts a loss; `example` is only called for the first one. */
  add(code: string, example: () => string): void {
    const known = this.byCode.get(code);
    if (known) known.count++;
    else this.byCode.set(code, { count: 1, example: example() });
  }
}

const typeDescriptions: Readonly<Record<FieldType, string>> = {
  boolean: "true or false",
  int32: "a whole number of 32 bits",
  int64: "a whole number of 64 bits",
  double: "a number",
  text: "text",
  date: "a date",
  time: "a time of day",
  datetime: "a date and time",
  binary: "base64 or hexadecimal bytes",
  json: "JSON",
};

function shown(value: Value): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export function castFailed(value: Value, to: FieldType, costs: CastLosses): null {
  costs.add("cast-failed", () => `${shown(value)} is not ${typeDescriptions[to]} and becomes null`);
  return null;
}

/** To the nearest whole number, halves away from zero. */
function rounded(value: number, costs: CastLosses): number {
  if (Number.isInteger(value)) return value;
  const whole = Math.sign(value) * Math.round(Math.abs(value));
  costs.add("cast-rounded", () => `${value} becomes ${whole}`);
  return whole;
}

/** Converts a double to int32: rounds and counts fractions; null if not finite or out of range. */
export function doubleToInt32(value: number, costs: CastLosses): number | null {
  if (!Number.isFinite(value)) return castFailed(value, "int32", costs);
  const whole = rounded(value, costs);
  return whole >= -(2 ** 31) && whole < 2 ** 31 ? whole : castFailed(value, "int32", costs);
}

export function doubleToInt64(value: number, costs: CastLosses): bigint | null {
  if (!Number.isFinite(value)) return castFailed(value, "int64", costs);
  const whole = rounded(value, costs);
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? BigInt(whole) : castFailed(value, "int64", costs);
}

export function int64ToInt32(value: bigint, costs: CastLosses): number | null {
  return BigInt.asIntN(32, value) === value ? Number(value) : castFailed(value, "int32", costs);
}

export function int64ToDouble(value: bigint, costs: CastLosses): number {
  const double = Number(value);
  if (!Number.isSafeInteger(double) && BigInt(double) !== value)
    costs.add("rounded", () => `${value} becomes ${BigInt(double)}`);
  return double;
}

function castNumber(value: number, to: FieldType, costs: CastLosses): Value {
  switch (to) {
    case "boolean":
      return value === 0 || value === 1 ? value === 1 : castFailed(value, to, costs);
    case "int32":
      return doubleToInt32(value, costs);
    case "int64":
      return doubleToInt64(value, costs);
    case "double":
      return value;
    case "text":
      return String(value);
    case "json":
      return Number.isFinite(value) ? String(value) : castFailed(value, to, costs);
    default:
      return castFailed(value, to, costs);
  }
}

function castBigint(value: bigint, to: FieldType, costs: CastLosses): Value {
  switch (to) {
    case "boolean":
      return value === 0n || value === 1n ? value === 1n : castFailed(value, to, costs);
    case "int32":
      return int64ToInt32(value, costs);
    case "int64":
      return value;
    case "double":
      return int64ToDouble(value, costs);
    case "text":
      return String(value);
    case "json":
      return Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`;
    default:
      return castFailed(value, to, costs);
  }
}

function castBoolean(value: boolean, to: FieldType, costs: CastLosses): Value {
  switch (to) {
    case "boolean":
      return value;
    case "int32":
    case "double":
      return value ? 1 : 0;
    case "int64":
      return value ? 1n : 0n;
    case "text":
    case "json":
      return String(value);
    default:
      return castFailed(value, to, costs);
  }
}

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ...["true", "t", "yes", "y", "1"].map((word) => [word, true] as const),
  ...["false", "f", "no", "n", "0"].map((word) => [word, false] as const),
]);

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const integer = /^[+-]?\d+$/;
const nonFinite: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
  ["+infinity", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["-infinity", Number.NEGATIVE_INFINITY],
]);

/** A decimal number; undefined if the text (without blanks around it) is not one. */
export function numberFromText(text: string): number | undefined {
  if (decimal.test(text)) return Number(text);
  return nonFinite.get(text.toLowerCase());
}

const hexadecimal = /^([0-9a-f]{2})+$/i;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Bytes from base64, which `binary` casts to, or from hexadecimal digits where they are marked (`0x…`, `\x…`) or
 * cannot be base64.
 */
function bytesFromText(text: string): Uint8Array | undefined {
  if (/^(0x|\\x)/i.test(text)) {
    const digits = text.slice(2);
    return hexadecimal.test(digits) ? Buffer.from(digits, "hex") : undefined;
  }
  const compact = text.replace(/\s+/g, "");
  if (compact.length % 4 === 0 && base64.test(compact)) return Buffer.from(compact, "base64");
  return hexadecimal.test(compact) ? Buffer.from(compact, "hex") : undefined;
}

const isRealDate = (text: string): boolean =>
  Number(text.slice(8, 10)) <= daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7)));

/** A text in ISO 8601, or with slashes for hyphens or a blank for the T, in canonical form. */
export function canonicalTemporal(text: string): { type: "date" | "time" | "datetime"; text: string } | null {
  const canonical = text.replace(/^(\d{4})\/(\d\d)\/(\d\d)/, "$1-$2-$3").replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, "$1T");
  const type = temporalType(canonical);
  if (!type || (type !== "time" && !isRealDate(canonical))) return null;
  return { type, text: canonical };
}

function castTemporal(from: "date" | "time" | "datetime", text: string, to: FieldType, costs: CastLosses): Value {
  if (from === to) return text;
  if (from === "date" && to === "datetime") return `${text}T00:00:00`;
  if (from !== "datetime" || (to !== "date" && to !== "time")) return castFailed(text, to, costs);
  const [date = "", clock = ""] = text.split("T");
  if (to === "date") {
    if (!/^00:00:00(\.0+)?$/.test(clock)) costs.add("time-dropped", () => `${text} becomes ${date}`);
    return date;
  }
  const time = clock.replace(/(Z|[+-]\d\d:\d\d)$/, "");
  costs.add("date-dropped", () => `${text} becomes ${time}`);
  return time;
}

function castText(text: string, to: FieldType, costs: CastLosses): Value {
  if (to === "text") return text;
  if (to === "json") return JSON.stringify(text);
  const trimmed = text.trim();
  // Blank text is null in any other type.
  if (trimmed === "") return to === "binary" && text === "" ? new Uint8Array(0) : null;
  switch (to) {
    case "boolean":
      return booleanWords.get(trimmed.toLowerCase()) ?? castFailed(text, to, costs);
    case "int64":
      if (integer.test(trimmed)) {
        const value = BigInt(trimmed.startsWith("+") ? trimmed.slice(1) : trimmed);
        return BigInt.asIntN(64, value) === value ? value : castFailed(text, to, costs);
      }
      return castTextNumber(text, trimmed, to, costs);
    case "int32":
    case "double":
      return castTextNumber(text, trimmed, to, costs);
    case "binary":
      return bytesFromText(trimmed) ?? castFailed(text, to, costs);
    default: {
      const temporal = canonicalTemporal(trimmed);
      return temporal ? castTemporal(temporal.type, temporal.text, to, costs) : castFailed(text, to, costs);
    }
  }
}

/** Integers that a double may round, within its range. */
const longInteger = /^[+-]?\d{16,308}$/;

function castTextNumber(text: string, trimmed: string, to: FieldType, costs: CastLosses): Value {
  const value = numberFromText(trimmed);
  if (to === "double" && longInteger.test(trimmed)) return int64ToDouble(BigInt(trimmed.replace("+", "")), costs);
  return value === undefined ? castFailed(text, to, costs) : castNumber(value, to, costs);
}

function castJson(raw: string, to: FieldType, costs: CastLosses): Value {
  const text = raw.trim();
  switch (text[0]) {
    case '"':
      return castText(JSON.parse(text) as string, to, costs);
    case "t":
    case "f":
      return castBoolean(text === "true", to, costs);
    case "n":
      return to === "text" ? text : null;
    case "{":
    case "[":
      return to === "text" ? raw : castFailed(text, to, costs);
    default:
      return castText(text, to, costs);
  }
}

/** Casts a value from type `from` to type `to`; null if impossible. Counts losses in `costs`. */
export function castValue(value: Exclude<Value, null>, from: FieldType, to: FieldType, costs: CastLosses): Value {
  if (typeof value === "number") return castNumber(value, to, costs);
  if (typeof value === "bigint") return castBigint(value, to, costs);
  if (typeof value === "boolean") return castBoolean(value, to, costs);
  if (value instanceof Uint8Array) {
    const text = () => Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
    return to === "text" ? text() : to === "json" ? `"${text()}"` : castFailed(value, to, costs);
  }
  switch (from as BytesType) {
    case "json":
      return castJson(value, to, costs);
    case "date":
    case "time":
    case "datetime":
      if (to === "text") return value;
      if (to === "json") return JSON.stringify(value);
      return castTemporal(from as "date" | "time" | "datetime", value, to, costs);
    default:
      return castText(value, to, costs);
  }
}
