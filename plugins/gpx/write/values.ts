import { type BytesColumn, type Column, isBytesColumn, isCalendarDate, Presence } from "../../../src/model/index.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import { writeXmlText } from "../../shared/xml/escape.js";

const booleanWords = { true: Buffer.from("true"), false: Buffer.from("false") };

/** Writes the value of a row as the text of an element, in the form of XML Schema for its type. */
export function writeValue(out: TextBuffer, column: Column, row: number): number {
  switch (column.type) {
    case "boolean": {
      const word = column.values[row] === 1 ? booleanWords.true : booleanWords.false;
      out.bytes(word, 0, word.length);
      return 0;
    }
    case "int32":
      out.int(column.values[row]!);
      return 0;
    case "int64":
      writeInt64(out, column.values[row]!);
      return 0;
    case "double":
      writeDouble(out, column.values, row);
      return 0;
    case "binary":
      out.ascii(bytesOf(column, row).toString("base64"));
      return 0;
    default:
      return writeXmlText(out, column.bytes, column.offsets[row]!, column.offsets[row + 1]!);
  }
}

/**
 * Writes an integer. One beyond 32 bits gets a decimal point, because GDAL reads no 64-bit integers from GPX and would
 * clamp it to 32 bits.
 */
function writeInt64(out: TextBuffer, value: bigint): void {
  out.ascii(String(value));
  if (BigInt.asIntN(32, value) !== value) out.ascii(".0");
}

function writeDouble(out: TextBuffer, values: Float64Array, at: number): void {
  const value = values[at]!;
  if (Number.isFinite(value)) out.numberAt(values, at);
  else out.ascii(nonFiniteText(value));
}

/** The words of XML Schema 1.0 (part 2, 3.2.5.1). */
const nonFiniteText = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "INF" : "-INF");

function bytesOf(column: BytesColumn, row: number): Buffer {
  const from = column.offsets[row]!;
  return Buffer.from(column.bytes.buffer, column.bytes.byteOffset + from, column.offsets[row + 1]! - from);
}

/** Returns the text of a value; null for a type whose values no element of GPX holds. */
export function schemaTextOf(column: Column, row: number): string | null {
  if (column.presence[row] !== Presence.value) return null;
  if (column.type === "double" && !Number.isFinite(column.values[row])) return nonFiniteText(column.values[row]!);
  if (!isBytesColumn(column)) return column.type === "boolean" ? null : String(column.values[row]!);
  return column.type === "binary" || column.type === "json" ? null : bytesOf(column, row).toString("utf8");
}

const decimalPattern = /^[+-]?(\d+(\.\d*)?|\.\d+)$/;
const wholePattern = /^\d{1,9}$/;
const datetimePattern =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)?$/;

/** Whether a text is a dateTime of XML Schema 1.0 (part 2, 3.2.7), which does not allow the year 0. */
export function isDatetime(text: string): boolean {
  const parts = datetimePattern.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return year > 0 && isCalendarDate(year, month, day);
}

const fixValues = ["none", "2d", "3d", "dgps", "pps"];

/** The texts that the schema of GPX 1.1 allows for an element (its simple types); elements not listed hold any text. */
const elementChecks: Readonly<Record<string, (text: string) => boolean>> = {
  time: isDatetime,
  magvar: (text) => decimalPattern.test(text) && Number(text) >= 0 && Number(text) < 360,
  geoidheight: (text) => decimalPattern.test(text),
  number: (text) => wholePattern.test(text),
  fix: (text) => fixValues.includes(text),
  sat: (text) => wholePattern.test(text),
  hdop: (text) => decimalPattern.test(text),
  vdop: (text) => decimalPattern.test(text),
  pdop: (text) => decimalPattern.test(text),
  ageofdgpsdata: (text) => decimalPattern.test(text),
  dgpsid: (text) => wholePattern.test(text) && Number(text) <= 1023,
};

/** Whether the schema allows the text for this element. */
export const isValidElementText = (name: string, text: string): boolean => elementChecks[name]?.(text) ?? true;

/** Whether the schema allows any text for this element. */
export const acceptsAnyText = (name: string): boolean => !Object.hasOwn(elementChecks, name);

/** Converts a datetime with an offset to UTC, as GPX requires; one without an offset is unchanged. */
export function toUtc(text: string): string {
  if (text.endsWith("Z")) return text;
  const offset = /([+-])(\d\d):(\d\d)$/.exec(text);
  if (!offset) return text;
  const [, sign, hours, minutes] = offset;
  const shift = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  const local = text.slice(0, -6);
  const seconds = local.slice(0, 19);
  const moved = new Date(Date.parse(`${seconds}Z`) - shift).toISOString();
  // A year with more than four digits keeps its offset.
  return /^\d{4}-/.test(moved) ? `${moved.slice(0, 19)}${local.slice(19)}Z` : text;
}

/** Whether `toUtc` changed the time of day in a text. */
export const isShifted = (text: string, stored: string): boolean => stored !== text && !/[+-]00:00$/.test(text);
