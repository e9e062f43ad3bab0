/** The canonical form of a value for verifications. */
import type { ByteWriter } from "../../canonical/byte-writer.js";
import { canonicalValue } from "../../canonical/canonical-json.js";
import {
  mayBeTime,
  readText,
  textOfValue,
  valueTags,
  writeBinary,
  writeBoolean,
  writeInteger,
  writeNumber,
} from "../../canonical/canonical-value.js";
import { type BytesColumn, type Column, decodeUtf8, Presence } from "../../model/column.js";
import { parseWithAnyBigints } from "../../model/exact-json.js";
import type { FieldType } from "../../model/field.js";
import { temporalTypeAt } from "../../model/temporal-type.js";
import { idRules, type ProofRules } from "./proof-rules.js";

/** First byte of each kind of value. */
export const cellTags = { null: 0, ...valueTags } as const;

type CellRules = Pick<ProofRules, "types" | "absentIsNull">;

/** How the texts of a column are compared: byte by byte, as times where they are times, or parsed; null for other columns. */
export function textComparison(
  type: FieldType,
  written: FieldType | null,
  rules: CellRules,
): "exact" | "times" | "parsed" | null {
  if (type !== "text" && type !== "date" && type !== "time" && type !== "datetime") return null;
  if (rules.types === "none" && written !== null) return written === "text" ? "exact" : "parsed";
  return rules.types === "layer" && written === "text" ? "exact" : "times";
}

/**
 * @param written the type that was written, into which the texts of a format without types are parsed
 * @returns false, without a byte, if there is no value, and null if that equals an absent one
 */
export function writeCell(
  writer: ByteWriter,
  column: Column,
  row: number,
  written: FieldType | null,
  rules: CellRules,
): boolean {
  if (column.presence[row] !== Presence.value) {
    if (column.presence[row] === Presence.absent || rules.absentIsNull) return false;
    writer.byte(cellTags.null);
    return true;
  }
  switch (column.type) {
    case "boolean":
      writeBoolean(writer, column.values[row]!);
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
      return writeJson(writer, parseWithAnyBigints(readText(column, row)), rules);
    default:
      switch (textComparison(column.type, written, rules)) {
        case "parsed":
          return writeParsed(writer, column, row, written!, rules);
        case "exact":
          writeText(writer, column, row, true);
          return true;
        default:
          writeText(writer, column, row, false);
          return true;
      }
  }
}

/** @returns false, without a byte, if there is no id */
export function writeId(writer: ByteWriter, ids: Column, row: number, asText: boolean): boolean {
  if (!asText) return writeCell(writer, ids, row, null, idRules);
  const text = textOfValue(ids, row);
  if (text === null) return false;
  writer.byte(cellTags.text);
  writer.text(text);
  return true;
}

/** A value of a field with mixed types: each as if its field had its own type. */
function writeJson(writer: ByteWriter, value: unknown, rules: CellRules): boolean {
  if (value === null) {
    if (rules.absentIsNull) return false;
    writer.byte(cellTags.null);
  } else if (typeof value === "number") writeNumber(writer, value);
  else if (typeof value === "bigint") writeInteger(writer, value);
  else if (typeof value === "string") {
    const bytes = Buffer.from(value);
    writeTextBytes(writer, bytes, 0, bytes.length, false);
  } else if (typeof value === "boolean") writeBoolean(writer, Number(value));
  else {
    writer.byte(cellTags.json);
    writer.text(canonicalValue(value));
  }
  return true;
}

function writeText(writer: ByteWriter, { bytes, offsets }: BytesColumn, row: number, isExact: boolean): void {
  writeTextBytes(writer, bytes, offsets[row]!, offsets[row + 1]!, isExact);
}

/** @param isExact false takes a time in two notations for the same text, since readers return the canonical one */
function writeTextBytes(writer: ByteWriter, bytes: Uint8Array, from: number, to: number, isExact: boolean): void {
  writer.byte(cellTags.text);
  if (!isExact && mayBeTime(bytes, from, to) && temporalTypeAt(bytes, from, to))
    writer.text(canonicalTime(decodeUtf8(bytes, from, to)));
  else writer.bytes(bytes, from, to);
}

/** Without zeros at the end of the fraction, and with `Z` for `+00:00`. Other time zones stay as they are. */
const canonicalTime = (text: string): string =>
  text
    .replace(/[+-]00:00$/, "Z")
    .replace(/(\.\d*?)0+(?=Z$|[+-]\d\d:\d\d$|$)/, "$1")
    .replace(/\.(?=Z$|[+-]\d\d:\d\d$|$)/, "");

const numberPattern = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A text of a format without types, as a value of the type that was written. Other texts stay texts, which then differ. */
function writeParsed(
  writer: ByteWriter,
  column: BytesColumn,
  row: number,
  written: FieldType,
  rules: CellRules,
): boolean {
  const text = readText(column, row);
  if (written === "boolean" && (text === "true" || text === "false")) writeBoolean(writer, Number(text === "true"));
  else if ((written === "int32" || written === "double") && numberPattern.test(text)) writeNumber(writer, Number(text));
  else if (written === "int64" && /^-?\d+$/.test(text)) writeInteger(writer, BigInt(text));
  else if (written === "binary" && column.type === "text") {
    const bytes = Buffer.from(text, "base64");
    writer.byte(cellTags.binary);
    writer.bytes(bytes, 0, bytes.length);
  } else if (written === "json") {
    const parsed = tryParseJson(text);
    return parsed === undefined ? writeJson(writer, text, rules) : writeJson(writer, parsed, rules);
  } else writeText(writer, column, row, written === "text");
  return true;
}

function tryParseJson(text: string): unknown {
  try {
    return parseWithAnyBigints(text);
  } catch {
    return undefined;
  }
}
