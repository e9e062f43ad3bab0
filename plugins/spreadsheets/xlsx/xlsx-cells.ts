import type { WriteContext } from "../../../src/plugin/format.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { maxCellLength } from "../limits.js";
import type { CellWriter, TemporalType } from "../write/cell-writer.js";
import { reportZone, splitMoment } from "../write/moments.js";
import { cellStyle } from "./parts.js";

/** Bytes in a chunk in place of the number of the row, which the assembler knows: of a new row, and of the same row. */
export const rowMarks = { next: 1, same: 0 } as const;

const dayMs = 86_400_000;
/** Days from 1899-12-30 to 1970-01-01. */
const unixDay = 25_569;
/** 1900-03-01: programs disagree about the days before, since Excel counts a 1900-02-29 that did not exist. */
const firstDay = 61;

/** 0 for bytes that need no escape. */
const Escape = { none: 0, reference: 1, control: 2, underscore: 3, noncharacter: 4 } as const;
const escapes = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 38 || byte === 60 || byte === 62
    ? Escape.reference
    : byte < 32 && byte !== 9 && byte !== 10
      ? Escape.control
      : byte === 95
        ? Escape.underscore
        : byte === 0xef
          ? Escape.noncharacter
          : Escape.none,
);
const references: Readonly<Record<number, string>> = { 38: "&amp;", 60: "&lt;", 62: "&gt;" };

const isHex = (byte: number | undefined) =>
  byte !== undefined && ((byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 102));

/** Whether a text that looks like an escape begins at `at`. */
function looksEscaped(bytes: Uint8Array, at: number, to: number): boolean {
  if (at + 6 >= to || bytes[at + 1] !== 120 || bytes[at + 6] !== 95) return false;
  return isHex(bytes[at + 2]) && isHex(bytes[at + 3]) && isHex(bytes[at + 4]) && isHex(bytes[at + 5]);
}

const hex = (code: number) => `_x${code.toString(16).toUpperCase().padStart(4, "0")}_`;

/** Writes the text of a cell (ECMA-376-1, 22.9.2.19). */
export function writeString(out: TextBuffer, bytes: Uint8Array, from: number, to: number): void {
  let start = from;
  for (let i = from; i < to; i++) {
    const kind = escapes[bytes[i]!]!;
    if (kind === Escape.none) continue;
    if (kind === Escape.underscore && !looksEscaped(bytes, i, to)) continue;
    // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
    if (kind === Escape.noncharacter && !(bytes[i + 1] === 0xbf && bytes[i + 2]! >= 0xbe)) continue;
    out.bytes(bytes, start, i);
    if (kind === Escape.reference) out.ascii(references[bytes[i]!]!);
    else if (kind === Escape.noncharacter) {
      out.ascii(hex(0xff40 + bytes[i + 2]!));
      i += 2;
    } else out.ascii(hex(bytes[i]!));
    start = i + 1;
  }
  out.bytes(bytes, start, to);
}

/** Where to cut a text so that it has `max` UTF-16 units at most. */
function cutPosition(bytes: Uint8Array, from: number, to: number, max: number): number {
  let units = 0;
  for (let i = from; i < to; ) {
    const byte = bytes[i]!;
    const size = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    units += size === 4 ? 2 : 1;
    if (units > max) return i;
    i += size;
  }
  return to;
}

/** `=`, `+`, `-` and `@`, with which formulas begin. */
const beginsFormula = (byte: number | undefined) => byte === 61 || byte === 43 || byte === 45 || byte === 64;

const isSpace = (byte: number | undefined) => byte === 32 || byte === 9 || byte === 10;

function columnLetters(column: number): string {
  let letters = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

const letters: string[] = [];

/** Writes cells of a worksheet (ECMA-376-1, 18.3.1.4). Strings are inline: encoders of several threads share no table. */
export class XlsxCells implements CellWriter {
  private readonly out = new TextBuffer();

  constructor(private readonly context: Pick<WriteContext, "reportLoss">) {}

  beginRow(): void {
    const { out } = this;
    out.ascii('<row r="');
    out.byte(rowMarks.next);
    out.ascii('">');
  }

  endRow(): void {
    this.out.ascii("</row>\n");
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.out.finish();
  }

  private begin(column: number, attributes: string): void {
    const { out } = this;
    letters[column] ??= columnLetters(column);
    out.ascii(`<c r="${letters[column]}`);
    out.byte(rowMarks.same);
    out.ascii(attributes);
  }

  number(column: number, values: Float64Array, at: number, isDouble: boolean): void {
    const { out } = this;
    this.begin(column, '"><v>');
    if (isDouble) out.doubleAt(values, at);
    else out.numberAt(values, at);
    out.ascii("</v></c>");
  }

  integer(column: number, value: number): void {
    this.begin(column, '"><v>');
    this.out.int(value);
    this.out.ascii("</v></c>");
  }

  boolean(column: number, value: boolean): void {
    this.begin(column, `" t="b"><v>${value ? 1 : 0}</v></c>`);
  }

  text(column: number, bytes: Uint8Array, from: number, given: number, field: string): void {
    let to = given;
    if (to - from > maxCellLength) {
      to = cutPosition(bytes, from, to, maxCellLength);
      if (to < given) {
        const example = `text of more than ${maxCellLength} characters was cut`;
        this.context.reportLoss("text-cut", field, example);
      }
    }
    // An editor would make a formula of it, without this mark.
    const style = beginsFormula(bytes[from]) && from < to ? ` s="${cellStyle.text}"` : "";
    this.styledText(column, bytes, from, to, style);
  }

  /** @param style the attribute */
  styledText(column: number, bytes: Uint8Array, from: number, to: number, style: string): void {
    const { out } = this;
    this.begin(column, `"${style} t="inlineStr"><is><t`);
    const isKept = from < to && (isSpace(bytes[from]) || isSpace(bytes[to - 1]));
    out.ascii(isKept ? ' xml:space="preserve">' : ">");
    writeString(out, bytes, from, to);
    out.ascii("</t></is></c>");
  }

  temporal(column: number, type: TemporalType, bytes: Uint8Array, from: number, to: number, field: string): void {
    const moment = splitMoment(bytes, from, to, type);
    const serial = moment === null ? Number.NaN : (moment.day === null ? 0 : moment.day + unixDay) + moment.ms / dayMs;
    if (moment === null || (moment.day !== null && serial < firstDay)) {
      const example = `Excel has no date ${Buffer.from(bytes.subarray(from, to)).toString("utf8")}; it is text`;
      this.context.reportLoss("date-as-text", field, example);
      this.text(column, bytes, from, to, field);
      return;
    }
    if (moment.isRounded)
      this.context.reportLoss("time-rounded", field, "fractions of a second beyond milliseconds were dropped");
    if (moment.hasZone) reportZone(this.context, field);
    const hasFraction = moment.ms % 1000 !== 0;
    const style = type === "date" ? cellStyle.date : cellStyle[type][hasFraction ? "fraction" : "whole"];
    this.begin(column, `" s="${style}"><v>${serial}</v></c>`);
  }
}
