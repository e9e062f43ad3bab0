import {
  acquireBuffer,
  type Batch,
  type BytesColumn,
  type Column,
  decodeUtf8,
  isBytesColumn,
  Presence,
  valueAt,
} from "../../../src/model/index.js";
import type { DbfOutputColumn, DbfOutputTable } from "./table-layout.js";
import { type NumberWriteResult, writeInteger, writeNumber } from "./write-number.js";

const space = 0x20;
const question = 0x3f;
/** GDAL reads a date of zeros as null, but not a blank one. */
const zero = 0x30;

/** Reports values that a field cannot hold, once for all rows of a batch. */
export type ReportLoss = (code: string, field: string, example: string, count: number) => void;

/** Encodes text for the table; null for UTF-8, which needs no conversion. */
export type EncodeText = ((text: string) => Uint8Array) | null;

/** Losses of one batch, by code and field. */
class BatchLosses {
  private readonly found = new Map<string, { code: string; field: string; example: string; count: number }>();

  add(code: string, field: string, example: () => string): void {
    const key = `${code} ${field}`;
    const known = this.found.get(key);
    if (known) known.count++;
    else this.found.set(key, { code, field, example: example(), count: 1 });
  }

  report(lose: ReportLoss): void {
    for (const { code, field, example, count } of this.found.values()) lose(code, field, example, count);
  }
}

/** Writes the rows of batches as records of one table. */
export class RowEncoder {
  constructor(
    private readonly table: DbfOutputTable,
    private readonly encodeText: EncodeText,
    private readonly lose: ReportLoss,
  ) {}

  encode(batch: Batch): Uint8Array {
    const { recordBytes, columns, numbered } = this.table;
    const records = acquireBuffer(recordBytes * batch.length).fill(space);
    if (numbered) return records;
    const losses = new BatchLosses();
    const byName = new Map(batch.fields.map((field, i) => [field.name, i]));
    for (const column of columns) {
      const found = byName.get(column.name);
      if (column.letter === "D") this.fill(records, column, batch.length, zero);
      if (column.letter === "L") this.fill(records, column, batch.length, question);
      if (found !== undefined) this.cells(records, column, batch.columns[found]!, batch.length, losses);
    }
    losses.report(this.lose);
    return records;
  }

  /** Fills a column with its null byte, if that is not a blank. */
  private fill(records: Uint8Array, column: DbfOutputColumn, rows: number, byte: number): void {
    for (let i = 0; i < rows; i++) {
      const at = i * this.table.recordBytes + column.offset;
      // For a few bytes, the overhead of the native fill dominates.
      for (let k = 0; k < column.width; k++) records[at + k] = byte;
    }
  }

  private cells(records: Uint8Array, out: DbfOutputColumn, column: Column, rows: number, losses: BatchLosses): void {
    if (out.letter === "L") this.logicals(records, out, column, rows);
    else if (out.letter === "N" && !isBytesColumn(column)) this.numbers(records, out, column, rows, losses);
    else if (out.letter === "D" && isBytesColumn(column)) this.dates(records, out, column, rows, losses);
    else if (out.letter === "C" && isBytesColumn(column) && column.type !== "binary") {
      this.texts(records, out, column, rows, losses);
    } else this.others(records, out, column, rows, losses);
  }

  private logicals(records: Uint8Array, out: DbfOutputColumn, column: Column, rows: number): void {
    for (let i = 0; i < rows; i++) {
      const value = valueAt(column, i);
      records[i * this.table.recordBytes + out.offset] = value === null ? question : value ? 0x54 : 0x46;
    }
  }

  private numbers(
    records: Uint8Array,
    out: DbfOutputColumn,
    column: Exclude<Column, BytesColumn>,
    rows: number,
    losses: BatchLosses,
  ): void {
    const { recordBytes } = this.table;
    const { presence, values } = column;
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const end = i * recordBytes + out.offset + out.width;
      const value = values[i]!;
      if (typeof value === "number" && (value | 0) === value && writeInteger(value, records, end, out.width)) continue;
      const written = writeNumber(value, records, end, out);
      if (written !== "exact") this.lossOfNumber(written, value, out, losses);
    }
  }

  // Outside the loops, because a function created inside one would get a new scope in each iteration.
  private lossOfNumber(
    written: NumberWriteResult,
    value: number | bigint,
    { name, width }: DbfOutputColumn,
    losses: BatchLosses,
  ): void {
    if (written === "rounded") losses.add("number-rounded", name, () => `${value} was rounded to fit ${width} bytes`);
    else if (typeof value === "number" && !Number.isFinite(value)) {
      losses.add("non-finite-value", name, () => `${value} became null`);
    } else losses.add("number-too-large", name, () => `${value} does not fit ${width} bytes and became null`);
  }

  private dates(
    records: Uint8Array,
    out: DbfOutputColumn,
    column: BytesColumn,
    rows: number,
    losses: BatchLosses,
  ): void {
    const { presence, offsets, bytes } = column;
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const from = offsets[i]!;
      const at = i * this.table.recordBytes + out.offset;
      if (offsets[i + 1]! - from === 10 && bytes[from + 4] === 0x2d && bytes[from + 7] === 0x2d) {
        for (let k = 0; k < 4; k++) records[at + k] = bytes[from + k]!;
        records[at + 4] = bytes[from + 5]!;
        records[at + 5] = bytes[from + 6]!;
        records[at + 6] = bytes[from + 8]!;
        records[at + 7] = bytes[from + 9]!;
      } else this.lossOfDate(bytes, from, offsets[i + 1]!, out, losses);
    }
  }

  private lossOfDate(
    bytes: Uint8Array,
    from: number,
    to: number,
    { name }: DbfOutputColumn,
    losses: BatchLosses,
  ): void {
    const text = () => decodeUtf8(bytes, from, to);
    losses.add("date-out-of-range", name, () => `"${text()}" is not a date from 0000 to 9999 and became null`);
  }

  private texts(
    records: Uint8Array,
    out: DbfOutputColumn,
    column: BytesColumn,
    rows: number,
    losses: BatchLosses,
  ): void {
    const { recordBytes } = this.table;
    const { presence, offsets, bytes } = column;
    for (let i = 0; i < rows; i++) {
      if (presence[i] !== Presence.value) continue;
      const from = offsets[i]!;
      const to = offsets[i + 1]!;
      const at = i * recordBytes + out.offset;
      const size = to - from;
      if (size === 0) losses.add("text-empty", out.name, () => "a .dbf cannot tell an empty text from null");
      else if (bytes[to - 1] === space) {
        losses.add("text-padded", out.name, () => "spaces at the end of a text are padding in a .dbf");
      }
      if (size > out.width || !copyPlainText(bytes, from, to, records, at, this.encodeText !== null)) {
        this.writeOtherText(records, out, at, decodeUtf8(bytes, from, to), losses);
      }
    }
  }

  /** Writes text that is too long, contains a NUL, or needs an encoding. */
  private writeOtherText(
    records: Uint8Array,
    out: DbfOutputColumn,
    at: number,
    text: string,
    losses: BatchLosses,
  ): void {
    records.fill(space, at, at + out.width);
    let clean = text;
    if (text.includes("\0")) {
      // A NUL ends a text in a .dbf.
      clean = text.replaceAll("\0", " ");
      losses.add("text-control", out.name, () => `a NUL in ${JSON.stringify(text.slice(0, 40))} became a space`);
    }
    let encoded = this.encodeText ? this.encodeText(clean) : Buffer.from(clean, "utf8");
    if (this.encodeText && countByte(encoded, question) > countByte(Buffer.from(clean), question)) {
      losses.add("text-unencodable", out.name, () => `"${text.slice(0, 40)}" has characters that the encoding lacks`);
    }
    if (encoded.length > out.width) {
      encoded = this.truncate(clean, encoded, out.width);
      losses.add("text-cut", out.name, () => `"${text.slice(0, 40)}…" has more than ${out.width} bytes and was cut`);
    }
    records.set(encoded, at);
  }

  /** The longest prefix of whole characters that fits `width` bytes. */
  private truncate(text: string, encoded: Uint8Array, width: number): Uint8Array {
    if (!this.encodeText) {
      let end = width;
      while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--;
      return encoded.subarray(0, end);
    }
    const characters = [...text].slice(0, width);
    let cut = this.encodeText(characters.join(""));
    while (cut.length > width) {
      characters.length -= Math.max(1, Math.floor((cut.length - width) / 4));
      cut = this.encodeText(characters.join(""));
    }
    return cut;
  }

  /** Writes a column of another type than the layer's field as text. */
  private others(records: Uint8Array, out: DbfOutputColumn, column: Column, rows: number, losses: BatchLosses): void {
    for (let i = 0; i < rows; i++) {
      const value = valueAt(column, i);
      if (value === null) continue;
      const text = value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value);
      const at = i * this.table.recordBytes + out.offset;
      if (out.letter === "C") this.writeOtherText(records, out, at, text, losses);
      else
        losses.add("value-type-mismatch", out.name, () => `"${text.slice(0, 40)}" is no ${out.fieldType}, became null`);
    }
  }
}

function countByte(bytes: Uint8Array, byte: number): number {
  let found = 0;
  for (const other of bytes) if (other === byte) found++;
  return found;
}

/** Copies a text unchanged; returns false if it contains a NUL, or a byte beyond ASCII that needs an encoding. */
function copyPlainText(
  bytes: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
  asciiOnly: boolean,
) {
  const size = to - from;
  for (let i = 0; i < size; i++) {
    const byte = bytes[from + i]!;
    if (byte === 0 || (asciiOnly && byte > 127)) return false;
    target[at + i] = byte;
  }
  return true;
}
