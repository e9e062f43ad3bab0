import { isUtf8 } from "node:buffer";
import {
  type BytesBuilder,
  type BytesType,
  type Column,
  columnBuilder,
  type FieldType,
  isLittleEndian,
  type NumberBuilder,
  Presence,
  temporalType,
} from "../../../src/model/index.js";
import { temporalTypeAt } from "../../../src/model/temporal-type.js";
import { parseLooseDate, parseLooseDatetime, parseLooseTime } from "../../shared/text/loose-temporal.js";
import { isValidUtf8 } from "../../shared/text/utf8.js";
import type { SqliteHeader } from "../sqlite/header.js";
import { decodeText, isBlob, isInteger, isText, readInteger, SerialType, type SqliteValue } from "../sqlite/values.js";

/** Reports a value that does not fit its column's type: SQLite allows any value in any column. */
export type ReportValueIssue = (code: "value-unreadable" | "text-undecodable" | "rounded", example: string) => void;

/** Decodes the values of one column, row by row, into a column of a batch. */
export abstract class ColumnDecoder {
  constructor(
    protected readonly encoding: SqliteHeader["encoding"],
    private readonly report: ReportValueIssue,
  ) {}

  /** Adds the value of serial type `serial` at `bytes[at … at + size]`. */
  addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    if (isText(serial)) this.value(decodeText(bytes, at, at + size, this.encoding));
    else if (isBlob(serial)) this.value(bytes.subarray(at, at + size));
    else if (serial === SerialType.double) this.value(bytes.readDoubleBE(at));
    else if (serial === SerialType.int64) this.value(bytes.readBigInt64BE(at));
    else if (isInteger(serial)) this.value(readInteger(bytes, at, serial));
    else this.value(null);
  }

  /** Adds a value that is already decoded. */
  abstract value(value: SqliteValue): void;

  /** Returns the rows added since the last call as a column. */
  abstract finish(): Column;

  protected reportUnreadable(value: SqliteValue, wanted: string): void {
    this.report("value-unreadable", `${formatValue(value)} is no ${wanted}, and became null`);
  }

  protected reportRounded(value: bigint): void {
    this.report("rounded", `${value} became ${Number(value)}`);
  }

  protected reportUndecodable(text: string): void {
    this.report("text-undecodable", `${JSON.stringify(text.slice(0, 60))} is not in the encoding of the database`);
  }
}

const formatValue = (value: SqliteValue): string =>
  value instanceof Uint8Array ? `a blob of ${value.length} bytes` : JSON.stringify(String(value).slice(0, 60));

/** Converts a value to an integer, or null if it is none. */
function toWholeNumber(value: SqliteValue): number | bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isInteger(value) ? value : null;
  return typeof value === "string" && /^\s*[-+]?\d{1,18}\s*$/.test(value)
    ? BigInt(value.trim().replace("+", ""))
    : null;
}

function toNumber(value: SqliteValue): number | null {
  if (typeof value === "number" || typeof value === "bigint") return Number(value);
  if (typeof value !== "string" || !/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)) return null;
  return Number(value);
}

class BooleanDecoder extends ColumnDecoder {
  private builder = columnBuilder("boolean") as NumberBuilder;

  value(value: SqliteValue): void {
    const word = typeof value === "string" ? value.toLowerCase() : value;
    if (value === null) this.builder.pushNull();
    else if (word === 1 || word === 1n || word === "true") this.builder.push(1);
    else if (word === 0 || word === 0n || word === "false") this.builder.push(0);
    else {
      this.reportUnreadable(value, "boolean");
      this.builder.pushNull();
    }
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = columnBuilder("boolean") as NumberBuilder;
    return column;
  }
}

class Int32Decoder extends ColumnDecoder {
  private builder = columnBuilder("int32") as NumberBuilder;

  override addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    if ((serial >= 1 && serial <= 4) || serial === SerialType.zero || serial === SerialType.one) {
      this.builder.push(readInteger(bytes, at, serial));
    } else super.addEncoded(bytes, at, serial, size);
  }

  value(value: SqliteValue): void {
    const whole = toWholeNumber(value);
    const number = whole === null ? Number.NaN : Number(whole);
    if (value === null) this.builder.pushNull();
    else if ((number | 0) === number) this.builder.push(number);
    else {
      this.reportUnreadable(value, "whole number of 32 bits");
      this.builder.pushNull();
    }
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = columnBuilder("int32") as NumberBuilder;
    return column;
  }
}

/** Builds an int64 column from 32-bit halves: allocating a bigint for each value is slow. */
export class Int64ColumnBuilder {
  private presence = new Uint8Array(1024);
  private values = new BigInt64Array(1024);
  private halves = new Uint32Array(this.values.buffer);
  length = 0;

  private row(): number {
    if (this.length === this.values.length) {
      const values = new BigInt64Array(2 * this.length);
      values.set(this.values);
      const presence = new Uint8Array(2 * this.length);
      presence.set(this.presence);
      this.values = values;
      this.presence = presence;
      this.halves = new Uint32Array(values.buffer);
    }
    return this.length++;
  }

  push(high: number, low: number): void {
    const row = this.row();
    this.presence[row] = Presence.value;
    this.halves[2 * row] = isLittleEndian ? low : high;
    this.halves[2 * row + 1] = isLittleEndian ? high : low;
  }

  pushBigint(value: bigint): void {
    const row = this.row();
    this.presence[row] = Presence.value;
    this.values[row] = value;
  }

  pushNull(): void {
    const row = this.row();
    this.presence[row] = Presence.null;
    this.values[row] = 0n;
  }

  finish(): Column {
    const { length } = this;
    this.length = 0;
    return { type: "int64", presence: this.presence.slice(0, length), values: this.values.slice(0, length) };
  }
}

class Int64Decoder extends ColumnDecoder {
  private readonly values = new Int64ColumnBuilder();

  override addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    if (serial === SerialType.int64) this.values.push(bytes.readInt32BE(at), bytes.readUInt32BE(at + 4));
    else if (isInteger(serial)) {
      const value = readInteger(bytes, at, serial);
      this.values.push(Math.floor(value / 4_294_967_296), value >>> 0);
    } else super.addEncoded(bytes, at, serial, size);
  }

  value(value: SqliteValue): void {
    const whole = toWholeNumber(value);
    const wide = whole === null ? null : BigInt(whole);
    if (value === null) this.values.pushNull();
    else if (wide !== null && BigInt.asIntN(64, wide) === wide) this.values.pushBigint(wide);
    else {
      this.reportUnreadable(value, "whole number of 64 bits");
      this.values.pushNull();
    }
  }

  finish(): Column {
    return this.values.finish();
  }
}

class DoubleDecoder extends ColumnDecoder {
  private builder = columnBuilder("double") as NumberBuilder;

  override addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    if (serial === SerialType.double) this.builder.push(bytes.readDoubleBE(at));
    else if (isInteger(serial) && serial !== SerialType.int64) this.builder.push(readInteger(bytes, at, serial));
    else super.addEncoded(bytes, at, serial, size);
  }

  value(value: SqliteValue): void {
    const number = toNumber(value);
    if (number === null) {
      if (value !== null) this.reportUnreadable(value, "number");
      this.builder.pushNull();
      return;
    }
    if (typeof value === "bigint" && BigInt(number) !== value) this.reportRounded(value);
    this.builder.push(number);
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = columnBuilder("double") as NumberBuilder;
    return column;
  }
}

/** Decodes variable-length columns. `convert` returns the text or bytes of a value, or null if it does not fit the type. */
class BytesDecoder extends ColumnDecoder {
  protected builder: BytesBuilder;

  constructor(
    private readonly type: BytesType,
    private readonly convert: (value: string | number | bigint | Uint8Array) => string | Uint8Array | null,
    encoding: SqliteHeader["encoding"],
    tell: ReportValueIssue,
  ) {
    super(encoding, tell);
    this.builder = columnBuilder(type) as BytesBuilder;
  }

  value(value: SqliteValue): void {
    const converted = value === null ? null : this.convert(value);
    if (converted === null) {
      if (value !== null) this.reportUnreadable(value, this.type);
      this.builder.pushNull();
    } else if (typeof converted === "string") this.builder.push(converted);
    else this.builder.pushBytes(converted, 0, converted.length);
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = columnBuilder(this.type) as BytesBuilder;
    return column;
  }
}

class TextColumnDecoder extends BytesDecoder {
  override addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    if (!isText(serial) || this.encoding !== "utf8") super.addEncoded(bytes, at, serial, size);
    else if (isValidUtf8(bytes, at, at + size)) {
      this.builder.pushBytes(bytes, at, at + size);
    } else {
      const text = bytes.toString("utf8", at, at + size);
      this.reportUndecodable(text);
      this.builder.push(text);
    }
  }
}

class TemporalDecoder extends BytesDecoder {
  constructor(
    private readonly canonical: "date" | "time" | "datetime",
    encoding: SqliteHeader["encoding"],
    tell: ReportValueIssue,
  ) {
    super(canonical, converters[canonical], encoding, tell);
  }

  override addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    const asIs = isText(serial) && this.encoding === "utf8" && temporalTypeAt(bytes, at, at + size) === this.canonical;
    if (asIs) this.builder.pushBytes(bytes, at, at + size);
    else super.addEncoded(bytes, at, serial, size);
  }
}

class BinaryDecoder extends BytesDecoder {
  override addEncoded(bytes: Buffer, at: number, serial: number, size: number): void {
    if (isBlob(serial)) this.builder.pushBytes(bytes, at, at + size);
    else super.addEncoded(bytes, at, serial, size);
  }
}

function toText(value: string | number | bigint | Uint8Array): string | Uint8Array | null {
  if (value instanceof Uint8Array) return isUtf8(value) ? value : null;
  return String(value);
}

/** Valid JSON text is kept; any other text becomes a JSON string. */
function toJson(value: string | number | bigint | Uint8Array): string | null {
  const text = value instanceof Uint8Array ? toText(value) : String(value);
  if (text === null) return null;
  const known = typeof text === "string" ? text : Buffer.from(text).toString("utf8");
  try {
    JSON.parse(known);
    return known;
  } catch {
    return JSON.stringify(known);
  }
}

const temporalConverter =
  (canonical: "date" | "time" | "datetime", otherwise: (text: string) => string | null) =>
  (value: string | number | bigint | Uint8Array): string | null => {
    if (typeof value !== "string") return null;
    return temporalType(value) === canonical ? value : otherwise(value.trim());
  };

const converters = {
  text: toText,
  json: toJson,
  date: temporalConverter("date", parseLooseDate),
  time: temporalConverter("time", parseLooseTime),
  datetime: temporalConverter("datetime", parseLooseDatetime),
  binary: (value: string | number | bigint | Uint8Array) =>
    value instanceof Uint8Array ? value : typeof value === "string" ? Buffer.from(value, "utf8") : null,
} as const;

export function createColumnDecoder(
  type: FieldType,
  encoding: SqliteHeader["encoding"],
  tell: ReportValueIssue,
): ColumnDecoder {
  switch (type) {
    case "boolean":
      return new BooleanDecoder(encoding, tell);
    case "int32":
      return new Int32Decoder(encoding, tell);
    case "int64":
      return new Int64Decoder(encoding, tell);
    case "double":
      return new DoubleDecoder(encoding, tell);
    case "text":
      return new TextColumnDecoder(type, converters.text, encoding, tell);
    case "binary":
      return new BinaryDecoder(type, converters.binary, encoding, tell);
    case "date":
    case "time":
    case "datetime":
      return new TemporalDecoder(type, encoding, tell);
    default:
      return new BytesDecoder(type, converters[type], encoding, tell);
  }
}
