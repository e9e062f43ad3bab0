/**
 * The canonical form of a value: equal bytes for equal meaning, from any format. 1 equals 1.0, and a
 * moment equals the same moment in another notation.
 */
import { type BytesColumn, type Column, decodeUtf8, Presence } from "../model/column.js";
import { parseWithAnyBigints } from "../model/exact-json.js";
import { temporalTypeAt } from "../model/temporal-type.js";
import type { ByteWriter } from "./byte-writer.js";
import { canonicalValue } from "./canonical-json.js";
import type { ComparisonRules, FieldComparison } from "./rules.js";

/** First byte of each kind of value; 0 is free for a null. */
export const valueTags = { number: 1, integer: 2, text: 3, boolean: 4, binary: 5, json: 6 } as const;

type TextRules = Pick<ComparisonRules, "emptyTextIsNull" | "ignoresTrailingBlanks">;

/** @returns false, without a byte, if the row has no value: null equals missing */
export function writeValue(
  writer: ByteWriter,
  column: Column,
  row: number,
  comparison: FieldComparison,
  rules: TextRules,
): boolean {
  if (column.presence[row] !== Presence.value) return false;
  if (comparison === "text") {
    const text = textOfValue(column, row);
    return text !== null && writeText(writer, text, rules);
  }
  switch (column.type) {
    case "boolean":
      if (comparison === "number") writeNumber(writer, column.values[row]!);
      else writeBoolean(writer, column.values[row]!);
      return true;
    case "int32":
    case "double":
      writeNumber(writer, column.values[row]!);
      return true;
    case "int64":
      writeInteger(writer, column.values[row]!);
      return true;
    case "binary":
      writeBinary(writer, column, row);
      return true;
    case "json":
      return writeJson(writer, parseWithAnyBigints(readText(column, row)), comparison, rules);
    default:
      return writeTextBytes(writer, column, row, rules);
  }
}

/** @param value 0 or 1 */
export function writeBoolean(writer: ByteWriter, value: number): void {
  writer.byte(valueTags.boolean);
  writer.byte(value);
}

export function writeBinary(writer: ByteWriter, { bytes, offsets }: BytesColumn, row: number): void {
  writer.byte(valueTags.binary);
  writer.bytes(bytes, offsets[row]!, offsets[row + 1]!);
}

export function writeNumber(writer: ByteWriter, value: number): void {
  writer.byte(valueTags.number);
  writer.double(value);
}

/** An integer beyond 2⁵³ differs from the double that is nearest to it. */
export function writeInteger(writer: ByteWriter, value: bigint): void {
  const number = Number(value);
  if (Number.isSafeInteger(number)) writeNumber(writer, number);
  else {
    writer.byte(valueTags.integer);
    writer.text(String(value));
  }
}

/** A value of a field with mixed types: each as if its field had its own type. */
function writeJson(writer: ByteWriter, value: unknown, comparison: FieldComparison, rules: TextRules): boolean {
  if (value === null) return false;
  if (typeof value === "number") writeNumber(writer, value);
  else if (typeof value === "bigint") writeInteger(writer, value);
  else if (typeof value === "string") return writeText(writer, value, rules);
  else if (typeof value === "boolean" && comparison === "number") writeNumber(writer, Number(value));
  else if (typeof value === "boolean") writeBoolean(writer, Number(value));
  else {
    writer.byte(valueTags.json);
    writer.text(canonicalValue(value));
  }
  return true;
}

const [space, zero, nine, colon] = [0x20, 0x30, 0x39, 0x3a];

/** Whether a text may be a time or a date with a time; false only if it is none. */
export function mayBeTime(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from]!;
  if (to - from < 8 || first < zero || first > nine) return false;
  return bytes[from + 2] === colon || (to - from > 13 && bytes[from + 13] === colon);
}

function writeTextBytes(writer: ByteWriter, { bytes, offsets }: BytesColumn, row: number, rules: TextRules): boolean {
  const from = offsets[row]!;
  let to = offsets[row + 1]!;
  if (rules.ignoresTrailingBlanks) while (to > from && bytes[to - 1] === space) to--;
  if (to === from && rules.emptyTextIsNull) return false;
  if (mayBeTime(bytes, from, to) && temporalTypeAt(bytes, from, to)) {
    writer.byte(valueTags.text);
    writer.text(canonicalTime(decodeUtf8(bytes, from, to)));
    return true;
  }
  writer.byte(valueTags.text);
  writer.bytes(bytes, from, to);
  return true;
}

function writeText(writer: ByteWriter, text: string, rules: TextRules): boolean {
  const kept = rules.ignoresTrailingBlanks ? text.replace(/ +$/, "") : text;
  if (kept === "" && rules.emptyTextIsNull) return false;
  writer.byte(valueTags.text);
  writer.text(/^\d/.test(kept) ? canonicalTimeOrText(kept) : kept);
  return true;
}

function canonicalTimeOrText(text: string): string {
  const bytes = Buffer.from(text);
  const type = temporalTypeAt(bytes, 0, bytes.length);
  return type === null || type === "date" ? text : canonicalTime(text);
}

/**
 * A time, or a date with a time, in ISO 8601: without zeros at the end of the fraction, and in UTC if it has a time zone.
 */
function canonicalTime(text: string): string {
  const [, local, fraction = "", zone] = /^(.*?:\d\d:\d\d|\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text)!;
  const digits = fraction.replace(/0+$/, "");
  const end = digits === "" ? "" : `.${digits}`;
  if (zone === undefined || !local!.includes("T")) return `${local}${end}${zone ?? ""}`;
  if (zone === "Z") return `${local}${end}Z`;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  const moment = Date.parse(`${local}Z`) - (zone.startsWith("-") ? -1 : 1) * minutes * 60_000;
  return Number.isNaN(moment) ? text : `${new Date(moment).toISOString().slice(0, 19)}${end}Z`;
}

export const readText = ({ bytes, offsets }: BytesColumn, row: number): string =>
  decodeUtf8(bytes, offsets[row]!, offsets[row + 1]!);

/** A value as text, as formats without its type store it; null if there is none. */
export function textOfValue(column: Column, row: number): string | null {
  if (column.presence[row] !== Presence.value) return null;
  switch (column.type) {
    case "boolean":
      return column.values[row] === 1 ? "true" : "false";
    case "int32":
    case "double":
      return String(column.values[row]! + 0);
    case "int64":
      return String(column.values[row]!);
    case "binary":
      return Buffer.from(column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!)).toString("base64");
    case "json":
      return textOfJson(parseWithAnyBigints(readText(column, row)));
    default:
      return textOfStoredJson(readText(column, row));
  }
}

function textOfJson(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === "string" ? value : canonicalValue(value);
}

/** Formats without a type for nested values store them as JSON text. */
function textOfStoredJson(text: string): string {
  if (!text.startsWith("{") && !text.startsWith("[")) return text;
  try {
    return canonicalValue(parseWithAnyBigints(text));
  } catch {
    return text;
  }
}
