import { BytesBuilder, type Column, isCalendarDate, Presence, temporalType } from "../../../src/model/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import type { TableField } from "./fields.js";
import type { DbfHeader } from "./header.js";
import { cellText, lastCellState, NumericCellState, readNumber } from "./read-number.js";
import type { TextCellDecoder } from "./text-cells.js";

/** A problem with the values of one column, with its count, to report to the user. */
export interface CellIssue {
  readonly code: string;
  readonly example: string;
  readonly count: number;
}

/** The rows of a batch in the bytes of a table. */
export interface TableRows {
  readonly bytes: Buffer;
  /** Where each row's record starts in `bytes`; -1 for a row that the table does not have. */
  readonly starts: Int32Array;
}

/** Decodes the cells of a batch, column by column. */
export class CellDecoder {
  private issues = new Map<string, { count: number; example: string }>();

  constructor(
    private readonly header: DbfHeader,
    private readonly text: TextCellDecoder,
  ) {}

  /** Decodes a field of these rows into a column; the caller must have fetched its memos. */
  column(field: TableField, rows: TableRows, memo: (start: number) => Uint8Array | null): Column {
    switch (field.cell) {
      case "number":
        if (field.field.type === "double") return this.doubles(field, rows);
        return field.field.type === "int64" ? this.int64s(field, rows) : this.int32s(field, rows);
      case "text":
        return this.texts(field, rows);
      case "logical":
        return this.logicals(field, rows);
      case "date":
        return this.dates(field, rows);
      case "memo":
      case "object":
        return this.memos(field, rows, memo);
      case "varchar":
      case "varbinary":
        return this.varying(field, rows);
      case "timestamp":
        return this.timestamps(field, rows);
      default:
        return this.binaryNumbers(field, rows);
    }
  }

  /** Returns the problems since the last call and resets them. */
  takeIssues(): CellIssue[] {
    const undecodable = this.text.takeUndecodable();
    if (undecodable.count > 0) {
      this.issues.set("text-undecodable", {
        count: undecodable.count,
        example: `"${undecodable.example}" is not text in the table's encoding; name the right one with --in encoding=NAME`,
      });
    }
    const taken = [...this.issues].map(([code, trouble]) => ({ code, ...trouble }));
    this.issues = new Map();
    return taken;
  }

  private note(code: string, example: () => string): void {
    const known = this.issues.get(code);
    if (known) known.count++;
    else this.issues.set(code, { count: 1, example: example() });
  }

  /** Whether Visual FoxPro's flags say that the cell is null. */
  private isNull(field: TableField, rows: TableRows, start: number): boolean {
    return field.column.nullBit >= 0 && this.flag(rows, start, field.column.nullBit);
  }

  private flag(rows: TableRows, start: number, bit: number): boolean {
    const { nullFlagsOffset, recordBytes } = this.header;
    const at = nullFlagsOffset + (bit >> 3);
    if (nullFlagsOffset < 0 || bit < 0 || at >= recordBytes) return false;
    return (rows.bytes[start + at]! & (1 << (bit & 7))) !== 0;
  }

  private unreadable(rows: TableRows, from: number, to: number): void {
    this.note("number-unreadable", () => `"${cellText(rows.bytes, from, to)}" is not a number and became null`);
  }

  private doubles(field: TableField, rows: TableRows): Column {
    const { bytes, starts } = rows;
    const { offset, width } = field.column;
    const presence = new Uint8Array(starts.length);
    const values = new Float64Array(starts.length);
    for (let i = 0; i < starts.length; i++) {
      const from = starts[i]! + offset;
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) continue;
      const value = readNumber(bytes, from, from + width);
      if (lastCellState === NumericCellState.number) {
        presence[i] = Presence.value;
        values[i] = value;
      } else if (lastCellState === NumericCellState.unreadable) this.unreadable(rows, from, from + width);
    }
    return { type: "double", presence, values };
  }

  /** Reads a cell as an integer; NaN if it holds no number. Rounds fractions and reports that. */
  private whole(rows: TableRows, from: number, to: number): number {
    const value = readNumber(rows.bytes, from, to);
    if (lastCellState === NumericCellState.unreadable) this.unreadable(rows, from, to);
    if (lastCellState !== NumericCellState.number || Number.isInteger(value)) return value;
    const rounded = Math.round(value);
    this.note("number-rounded", () => `${value} in a field of whole numbers became ${rounded}`);
    return rounded;
  }

  private int32s(field: TableField, rows: TableRows): Column {
    const { starts } = rows;
    const { offset, width } = field.column;
    const presence = new Uint8Array(starts.length);
    const values = new Int32Array(starts.length);
    for (let i = 0; i < starts.length; i++) {
      const from = starts[i]! + offset;
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) continue;
      const value = this.whole(rows, from, from + width);
      if (Number.isNaN(value)) continue;
      values[i] = value;
      if (values[i] === value || value === 0) presence[i] = Presence.value;
      else this.note("number-too-large", () => `${value} does not fit a 32-bit integer and became null`);
    }
    return { type: "int32", presence, values };
  }

  private int64s(field: TableField, rows: TableRows): Column {
    const { starts } = rows;
    const { offset, width } = field.column;
    const presence = new Uint8Array(starts.length);
    const values = new BigInt64Array(starts.length);
    // Halves of 32 bits avoid a bigint per value; typed arrays are little-endian wherever Node runs geoferry.
    const halves = new Int32Array(values.buffer);
    for (let i = 0; i < starts.length; i++) {
      const from = starts[i]! + offset;
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) continue;
      const value = this.whole(rows, from, from + width);
      if (Number.isNaN(value)) continue;
      presence[i] = Presence.value;
      if (Number.isSafeInteger(value)) {
        const highHalf = Math.floor(value / 0x1_0000_0000);
        halves[2 * i] = value - highHalf * 0x1_0000_0000;
        halves[2 * i + 1] = highHalf;
      } else if (!this.bigInteger(rows, from, from + width, values, i)) presence[i] = Presence.null;
    }
    return { type: "int64", presence, values };
  }

  private bigInteger(rows: TableRows, from: number, to: number, values: BigInt64Array, i: number): boolean {
    const text = cellText(rows.bytes, from, to);
    const digits = /^[-+]?\d+/.exec(text)?.[0];
    const value =
      digits === text || (digits && /^[.,]0*$/.test(text.slice(digits.length))) ? BigInt(digits) : undefined;
    if (value !== undefined && BigInt.asIntN(64, value) === value) {
      values[i] = value;
      return true;
    }
    this.note("number-too-large", () => `${text} does not fit a 64-bit integer and became null`);
    return false;
  }

  private texts(field: TableField, rows: TableRows): Column {
    const { bytes, starts } = rows;
    const { offset, width } = field.column;
    const builder = new BytesBuilder("text");
    const view = dataViewOf(bytes);
    for (let i = 0; i < starts.length; i++) {
      const from = starts[i]! + offset;
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) builder.pushNull();
      else this.text.push(builder, bytes, from, trimBlanks(view, from, from + width));
    }
    return builder.finish();
  }

  private logicals(field: TableField, rows: TableRows): Column {
    const { bytes, starts } = rows;
    const { offset, width } = field.column;
    const presence = new Uint8Array(starts.length);
    const values = new Uint8Array(starts.length);
    for (let i = 0; i < starts.length; i++) {
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) continue;
      let at = starts[i]! + offset;
      const end = at + width;
      while (at < end && bytes[at] === 32) at++;
      const letter = at < end ? bytes[at]! : 32;
      const truth = logicalValues[letter & 127]!;
      if (letter < 128 && truth >= 0) {
        presence[i] = Presence.value;
        values[i] = truth;
      } else if (letter !== 32 && letter !== 63 && letter !== 0) {
        this.note(
          "logical-unreadable",
          () => `"${cellText(bytes, at, end)}" is neither true nor false and became null`,
        );
      }
    }
    return { type: "boolean", presence, values };
  }

  private dates(field: TableField, rows: TableRows): Column {
    const { bytes, starts } = rows;
    const { offset, width } = field.column;
    const builder = new BytesBuilder("date");
    const iso = Buffer.from("0000-00-00");
    for (let i = 0; i < starts.length; i++) {
      const from = starts[i]! + offset;
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) builder.pushNull();
      else if (width >= 8 && formatCompactDate(bytes, from, iso)) builder.pushBytes(iso, 0, 10);
      else this.readOtherDate(builder, rows, from, from + width);
    }
    return builder.finish();
  }

  private readOtherDate(builder: BytesBuilder, rows: TableRows, from: number, to: number): void {
    const text = cellText(rows.bytes, from, to);
    if (/^[0 \-/*]*$/.test(text)) {
      builder.pushNull();
      return;
    }
    const american = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text);
    const iso = american
      ? `${american[3]}-${american[1]}-${american[2]}`
      : text.replace(/^(\d{4})[/.](\d{2})[/.](\d{2})$/, "$1-$2-$3");
    if (temporalType(iso) === "date") builder.push(iso);
    else {
      this.note("date-unreadable", () => `"${text}" is not a date and became null`);
      builder.pushNull();
    }
  }

  private timestamps(field: TableField, rows: TableRows): Column {
    const builder = new BytesBuilder("datetime");
    for (const start of rows.starts) {
      const at = start + field.column.offset;
      const day = start < 0 ? 0 : rows.bytes.readInt32LE(at);
      // Zeros and spaces both mean null.
      if (start < 0 || day === 0 || day === 0x20202020 || this.isNull(field, rows, start)) {
        builder.pushNull();
        continue;
      }
      // Days are Julian day numbers: 2440588 is 1970-01-01.
      const time = (day - 2440588) * 86_400_000 + rows.bytes.readInt32LE(at + 4);
      if (time >= minTime && time <= maxTime) {
        builder.push(
          new Date(time)
            .toISOString()
            .slice(0, 23)
            .replace(/\.000$/, ""),
        );
      } else {
        this.note("date-unreadable", () => `Julian day ${day} is outside the years 0 to 9999 and became null`);
        builder.pushNull();
      }
    }
    return builder.finish();
  }

  private binaryNumbers(field: TableField, rows: TableRows): Column {
    const { bytes, starts } = rows;
    const { offset } = field.column;
    const read = this.binaryReader(field);
    const presence = new Uint8Array(starts.length);
    const values = field.cell === "int32" ? new Int32Array(starts.length) : new Float64Array(starts.length);
    for (let i = 0; i < starts.length; i++) {
      if (starts[i]! < 0 || this.isNull(field, rows, starts[i]!)) continue;
      const value = read(bytes, starts[i]! + offset);
      if (!Number.isFinite(value)) {
        this.note("number-unreadable", () => `${value} is not a number and became null`);
        continue;
      }
      presence[i] = Presence.value;
      values[i] = value;
    }
    return { type: field.cell === "int32" ? "int32" : "double", presence, values } as Column;
  }

  private binaryReader(field: TableField): (bytes: Buffer, at: number) => number {
    if (field.cell === "currency") return (bytes, at) => Number(bytes.readBigInt64LE(at)) / 10_000;
    if (field.cell === "int32") {
      // dBASE 7 inverts the sign bit, so that bytes sort like the numbers.
      return this.header.dbase7
        ? (bytes, at) => bytes.readInt32BE(at) ^ -0x8000_0000
        : (bytes, at) => bytes.readInt32LE(at);
    }
    return this.header.dbase7 ? readSortableDouble : (bytes, at) => bytes.readDoubleLE(at);
  }

  private varying(field: TableField, rows: TableRows): Column {
    const { bytes, starts } = rows;
    const { offset, width, lengthBit } = field.column;
    const builder = new BytesBuilder(field.cell === "varchar" ? "text" : "binary");
    for (const start of starts) {
      const from = start + offset;
      if (start < 0 || this.isNull(field, rows, start)) {
        builder.pushNull();
        continue;
      }
      // The flag marks a value shorter than its field; the last byte of the field holds its length.
      const length = this.flag(rows, start, lengthBit) ? Math.min(bytes[from + width - 1]!, width) : width;
      if (field.cell === "varchar") this.text.push(builder, bytes, from, from + length);
      else builder.pushBytes(bytes, from, from + length);
    }
    return builder.finish();
  }

  private memos(field: TableField, rows: TableRows, memo: (start: number) => Uint8Array | null): Column {
    const builder = new BytesBuilder(field.cell === "memo" ? "text" : "binary");
    for (const start of rows.starts) {
      const value = start < 0 ? null : memo(start);
      if (value === null) builder.pushNull();
      else if (field.cell === "memo") builder.push(this.text.decode(value));
      else builder.pushBytes(value, 0, value.length);
    }
    return builder.finish();
  }
}

const minTime = Date.parse("0000-01-01T00:00:00Z");
const maxTime = Date.parse("9999-12-31T23:59:59.999Z");

/** 1 for letters that mean true, 0 for those that mean false, -1 for others. */
const logicalValues = new Int8Array(128).fill(-1);
for (const letter of "TtYy1") logicalValues[letter.charCodeAt(0)] = 1;
for (const letter of "FfNn0") logicalValues[letter.charCodeAt(0)] = 0;

/** Eight blanks as a double. */
const eightBlanks = new Float64Array(new Uint8Array(8).fill(32).buffer)[0]!;

/** The end of the cell without trailing blanks, eight bytes at a time: most cells are much wider than their values. */
function trimBlanks(view: DataView, from: number, to: number): number {
  let end = to;
  while (end - from >= 8 && view.getFloat64(end - 8) === eightBlanks) end -= 8;
  return end;
}

/** Writes `YYYYMMDD` at `from` into `iso` as `YYYY-MM-DD`; returns false if it is not a date. */
function formatCompactDate(bytes: Buffer, from: number, iso: Buffer): boolean {
  for (let i = 0; i < 8; i++) {
    const byte = bytes[from + i]!;
    if (byte < 48 || byte > 57) return false;
    iso[i < 4 ? i : i < 6 ? i + 1 : i + 2] = byte;
  }
  const month = (iso[5]! - 48) * 10 + iso[6]! - 48;
  const day = (iso[8]! - 48) * 10 + iso[9]! - 48;
  if (day <= 28) return month >= 1 && month <= 12 && day >= 1;
  const year = (iso[0]! - 48) * 1000 + (iso[1]! - 48) * 100 + (iso[2]! - 48) * 10 + iso[3]! - 48;
  return isCalendarDate(year, month, day);
}

/** dBASE 7 doubles: big-endian, with the sign bit inverted; in negative ones, all bits are inverted. */
function readSortableDouble(bytes: Buffer, at: number): number {
  const copy = Buffer.from(bytes.subarray(at, at + 8));
  if (copy.every((byte) => byte === 0)) return 0;
  if (copy[0]! & 0x80) copy[0] = copy[0]! ^ 0x80;
  else for (let i = 0; i < 8; i++) copy[i] = copy[i]! ^ 0xff;
  return copy.readDoubleBE(0);
}
