import {
  BigintBuilder,
  BytesBuilder,
  type BytesType,
  type Column,
  type FieldType,
  NumberBuilder,
} from "../../../src/model/index.js";
import type { WireFormat } from "../column-types.js";
import { formatDate, formatMoment, formatTime } from "../times.js";

/** Reports a value that was changed. */
export type ReportValueIssue = (code: string, example: string) => void;

/** Decodes values of a binary COPY into a column of a batch. */
export interface ColumnDecoder {
  take(bytes: Buffer, from: number, to: number): void;
  none(): void;
  /** Returns the rows added since the last call as a column. */
  finish(): Column;
}

abstract class NumberDecoder implements ColumnDecoder {
  protected builder: NumberBuilder;

  constructor(private readonly type: "boolean" | "int32" | "double") {
    this.builder = new NumberBuilder(type);
  }

  abstract take(bytes: Buffer, from: number, to: number): void;

  none(): void {
    this.builder.pushNull();
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = new NumberBuilder(this.type);
    return column;
  }
}

class BooleanDecoder extends NumberDecoder {
  take(bytes: Buffer, from: number): void {
    this.builder.push(bytes[from]!);
  }
}

class IntegerDecoder extends NumberDecoder {
  take(bytes: Buffer, from: number, to: number): void {
    this.builder.push(to - from === 2 ? bytes.readInt16BE(from) : bytes.readInt32BE(from));
  }
}

class FloatDecoder extends NumberDecoder {
  take(bytes: Buffer, from: number, to: number): void {
    this.builder.push(to - from === 4 ? bytes.readFloatBE(from) : bytes.readDoubleBE(from));
  }
}

const maxExactDigits = 15;

/** Significant digits of a decimal number. */
function significantDigits(text: string): string {
  const [, digits = "", decimals = "", power = "0"] = /^-?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const all = `${digits}${decimals}`;
  const first = all.search(/[1-9]/);
  if (first < 0) return "0";
  return `${all.slice(first).replace(/0+$/, "")}e${digits.length - first + Number(power)}`;
}

class DecimalDecoder extends NumberDecoder {
  constructor(private readonly tell: ReportValueIssue) {
    super("double");
  }

  take(bytes: Buffer, from: number, to: number): void {
    const text = bytes.toString("latin1", from, to);
    const value = Number(text);
    this.builder.push(value);
    if (
      to - from > maxExactDigits &&
      Number.isFinite(value) &&
      significantDigits(text) !== significantDigits(String(value))
    )
      this.tell("number-rounded", `${text} became ${value}; --in numeric=text keeps all digits`);
  }
}

class BigintDecoder implements ColumnDecoder {
  private builder = new BigintBuilder();

  take(bytes: Buffer, from: number): void {
    this.builder.push(bytes.readBigInt64BE(from));
  }

  none(): void {
    this.builder.pushNull();
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = new BigintBuilder();
    return column;
  }
}

class BytesDecoder implements ColumnDecoder {
  protected builder: BytesBuilder;

  constructor(private readonly type: BytesType) {
    this.builder = new BytesBuilder(type);
  }

  take(bytes: Buffer, from: number, to: number): void {
    this.builder.pushBytes(bytes, from, to);
  }

  none(): void {
    this.builder.pushNull();
  }

  finish(): Column {
    const column = this.builder.finish();
    this.builder = new BytesBuilder(this.type);
    return column;
  }
}

class TemporalDecoder extends BytesDecoder {
  constructor(
    type: BytesType,
    private readonly textOf: (bytes: Buffer, from: number) => string | null,
    private readonly tell: ReportValueIssue,
  ) {
    super(type);
  }

  override take(bytes: Buffer, from: number): void {
    const text = this.textOf(bytes, from);
    if (text !== null) {
      this.builder.push(text);
      return;
    }
    this.builder.pushNull();
    this.tell("date-unreadable", "infinity, 24:00 or a year outside 0 to 9999 became null");
  }
}

const createMomentReader = (zone: "" | "Z") => (bytes: Buffer, from: number) =>
  formatMoment(bytes.readBigInt64BE(from), zone);

export function createColumnDecoder(wire: WireFormat, type: FieldType, tell: ReportValueIssue): ColumnDecoder {
  switch (wire) {
    case "boolean":
      return new BooleanDecoder("boolean");
    case "integer":
      return new IntegerDecoder("int32");
    case "float":
      return new FloatDecoder("double");
    case "decimal":
      return new DecimalDecoder(tell);
    case "bigint":
      return new BigintDecoder();
    case "date":
      return new TemporalDecoder("date", (bytes, from) => formatDate(bytes.readInt32BE(from)), tell);
    case "time":
      return new TemporalDecoder("time", (bytes, from) => formatTime(Number(bytes.readBigInt64BE(from))), tell);
    case "timestamp":
      return new TemporalDecoder("datetime", createMomentReader(""), tell);
    case "timestamptz":
      return new TemporalDecoder("datetime", createMomentReader("Z"), tell);
    default:
      return new BytesDecoder(type as BytesType);
  }
}
