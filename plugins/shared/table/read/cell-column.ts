import {
  BigintBuilder,
  BytesBuilder,
  type Column,
  type ColumnBuilder,
  columnBuilder,
  type NumberBuilder,
} from "../../../../src/model/column.js";
import type { FieldType } from "../../../../src/model/field.js";
import type { Slab } from "../../../../src/model/slab.js";
import type { ReadContext } from "../../../../src/plugin/format.js";
import { parseNumber } from "../../text/parse-number.js";
import { parsePlainDecimal } from "../../text/plain-decimal.js";
import { isNonFinite } from "../columns/classify-cell.js";
import { type NumberFormat, parseFormattedNumber } from "../columns/number-format.js";
import { parseOtherTemporal, toCanonicalDate } from "../columns/other-temporal.js";
import { classifyTemporal, TemporalKind, toCanonicalTemporal } from "../columns/temporal.js";
import type { ColumnPlan } from "../plan/plan.js";
import { CellMark, type CellUnquoter, needsUnquoting } from "../records/record-scanner.js";
import { commaByte, pointByte } from "../records/signs.js";
import type { RecordColumns } from "./record-columns.js";

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

/** Words accepted in a column declared boolean; an inferred boolean column has only the first of each kind. */
const booleanWords: Readonly<Record<string, number>> = {
  true: 1,
  t: 1,
  yes: 1,
  y: 1,
  "1": 1,
  false: 0,
  f: 0,
  no: 0,
  n: 0,
  "0": 0,
};

/** Parses numbers in the cells of a file, with the file's decimal sign. */
export class CellNumberParser {
  private readonly scratch = new Uint8Array(512);

  private readonly decimal: number;
  /** Whether numbers have group separators; only the text path parses those. */
  readonly isGrouped: boolean;

  constructor(private readonly form: NumberFormat) {
    this.decimal = form.decimal;
    this.isGrouped = form.group !== null;
  }

  /**
   * Parses a number that fills its cell and has no more digits than a double holds exactly, into `numbers[at]`. This
   * covers most numbers without allocating objects. Returns false for all other cells, which `parse` handles.
   */
  put(bytes: Uint8Array, from: number, to: number, numbers: Float64Array, at: number): boolean {
    return (
      this.decimal === pointByte &&
      !this.isGrouped &&
      from < to &&
      parsePlainDecimal(bytes, from, to, numbers, at) === to
    );
  }

  /** Returns NaN for text that is not a number; ignores spaces around the number. */
  parse(bytes: Uint8Array, from: number, to: number): number {
    if (this.isGrouped) return to - from > 64 ? Number.NaN : parseFormattedNumber(utf8Text(bytes, from, to), this.form);
    if (this.decimal === pointByte) {
      const value = parseNumber(bytes, from, to);
      if (!Number.isNaN(value)) return value;
    }
    let start = from;
    let end = to;
    while (start < end && bytes[start] === 32) start++;
    while (end > start && bytes[end - 1] === 32) end--;
    if (this.decimal === pointByte) return start === from && end === to ? Number.NaN : parseNumber(bytes, start, end);
    const size = end - start;
    if (size > this.scratch.length) return Number.NaN;
    for (let i = 0; i < size; i++) {
      const byte = bytes[start + i]!;
      this.scratch[i] = byte === commaByte ? pointByte : byte === pointByte ? commaByte : byte;
    }
    return parseNumber(this.scratch, 0, size);
  }
}

/** The longest datetime that is parsed, in bytes. */
const maxTemporalBytes = 64;

/** Output of `put`. */
const parsedNumber = new Float64Array(1);

/** State that all columns of a file share. */
export interface ColumnContext {
  readonly text: CellUnquoter;
  readonly context: ReadContext;
  /** Initial capacity of the columns, in rows. */
  readonly rows: number;
  /** Whether a date in a column of datetimes is midnight. */
  readonly datesAreMidnights: boolean;
  /** Memory for the columns of the current batch, if the table is very wide. */
  slab: Slab | null;
}

/** Fills one column from cells. */
export class CellColumnBuilder {
  /** Created with the first row of a batch. */
  private started: ColumnBuilder | null = null;

  private readonly type: FieldType;

  constructor(
    private readonly plan: ColumnPlan,
    private readonly numbers: CellNumberParser,
    private readonly around: ColumnContext,
  ) {
    this.type = plan.type;
  }

  private get builder(): ColumnBuilder {
    this.started ??= columnBuilder(this.type, this.around.rows, this.around.slab);
    return this.started;
  }

  pushNull(): void {
    this.builder.pushNull();
  }

  /** Adds the rows that a kernel has read. */
  pushAll(columns: RecordColumns, column: number, rows: number): void {
    const { builder } = this;
    const presence = columns.presenceOf(column, rows);
    if (builder instanceof BytesBuilder)
      builder.pushAll(presence, columns.offsetsOf(column, rows), columns.texts, columns.textStart(column));
    else if (builder instanceof BigintBuilder) builder.pushAll(presence, columns.integersOf(column, rows));
    else if (builder.type === "double") builder.pushAll(presence, columns.doublesOf(column, rows));
    else if (builder.type === "int32") builder.pushAll(presence, columns.int32sOf(column, rows));
    else builder.pushAll(presence, columns.booleansOf(column, rows));
  }

  push(bytes: Uint8Array, from: number, to: number, mark: number): void {
    if (needsUnquoting(mark)) {
      const { text } = this.around;
      text.unquote(bytes, from, to, mark);
      this.put(text.bytes, 0, text.length, mark);
    } else this.put(bytes, from, to, mark);
  }

  private put(bytes: Uint8Array, from: number, to: number, mark: number): void {
    if (from === to) {
      if (this.type === "text" && mark !== CellMark.plain) (this.builder as BytesBuilder).pushBytes(bytes, from, to);
      else this.builder.pushNull();
      return;
    }
    switch (this.type) {
      case "text":
        (this.builder as BytesBuilder).pushBytes(bytes, from, to);
        return;
      case "int32":
      case "double":
        this.putNumber(bytes, from, to);
        return;
      case "int64":
        this.putBigint(bytes, from, to);
        return;
      case "boolean": {
        const truth = booleanWords[asciiText(bytes, from, to).trim().toLowerCase()];
        if (truth === undefined) this.unreadable(bytes, from, to);
        else (this.builder as NumberBuilder).push(truth);
        return;
      }
      default:
        this.putTemporal(bytes, from, to);
    }
  }

  private putNumber(bytes: Uint8Array, from: number, to: number): void {
    const builder = this.builder as NumberBuilder;
    if (this.type === "double" && this.numbers.put(bytes, from, to, parsedNumber, 0)) {
      builder.push(parsedNumber[0]!);
      return;
    }
    const value = this.numbers.parse(bytes, from, to);
    if (this.type === "int32" ? value === (value | 0) : Number.isFinite(value)) builder.push(value);
    else {
      const text = asciiText(bytes, from, to).trim();
      const trimmed = Buffer.from(text, "latin1");
      if (this.type === "double" && isNonFinite(trimmed, 0, trimmed.length)) builder.push(parseNonFinite(text));
      else this.unreadable(bytes, from, to);
    }
  }

  private putBigint(bytes: Uint8Array, from: number, to: number): void {
    const builder = this.builder as BigintBuilder;
    if (to - from <= 15) {
      const value = this.numbers.parse(bytes, from, to);
      if (Number.isInteger(value) && Number.isSafeInteger(value)) {
        builder.push(BigInt(value));
        return;
      }
    }
    const grouped = this.numbers.isGrouped ? this.numbers.parse(bytes, from, to) : Number.NaN;
    if (Number.isSafeInteger(grouped)) {
      builder.push(BigInt(grouped));
      return;
    }
    const text = asciiText(bytes, from, to).trim();
    const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : null;
    if (value !== null && value >= minInt64 && value <= maxInt64) builder.push(value);
    else this.unreadable(bytes, from, to);
  }

  private putTemporal(bytes: Uint8Array, from: number, to: number): void {
    const builder = this.builder as BytesBuilder;
    let start = from;
    let end = to;
    while (start < end && bytes[start] === 32) start++;
    while (end > start && bytes[end - 1] === 32) end--;
    const found = classifyTemporal(bytes, start, end);
    const wanted = TemporalKind[this.type as "date" | "time" | "datetime"];
    if (found === wanted) {
      const canonical = found === TemporalKind.time || (found === TemporalKind.date && bytes[start + 4] === 45);
      if (canonical) builder.pushBytes(bytes, start, end);
      else builder.push(toCanonicalTemporal(bytes, start, end));
    } else if (start === end) builder.pushNull();
    else if (this.around.datesAreMidnights && found === TemporalKind.date && wanted === TemporalKind.datetime)
      builder.push(`${toCanonicalTemporal(bytes, start, end)}T00:00:00`);
    else this.putOtherTemporal(bytes, start, end);
  }

  private putOtherTemporal(bytes: Uint8Array, from: number, to: number): void {
    const other = to - from > maxTemporalBytes ? null : parseOtherTemporal(asciiText(bytes, from, to));
    const text =
      other && other.hasTime === (this.type === "datetime") ? toCanonicalDate(other, this.plan.monthFirst) : null;
    if (text === null || this.type === "time") this.unreadable(bytes, from, to);
    else (this.builder as BytesBuilder).push(text);
  }

  /** Reports a value that does not match the column's type, which was declared or inferred from a sample. */
  private unreadable(bytes: Uint8Array, from: number, to: number): void {
    this.builder.pushNull();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 40)).toString("utf8");
    if (text.trim() !== "")
      this.around.context.reportLoss("value-unreadable", this.plan.name, `"${text}" is no ${this.type}`);
  }

  finish(): Column {
    const column = this.builder.finish();
    this.started = null;
    return column;
  }
}

function utf8Text(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
}

function asciiText(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
}

function parseNonFinite(text: string): number {
  if (/nan/i.test(text)) return Number.NaN;
  return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
