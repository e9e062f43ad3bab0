import {
  BigintBuilder,
  BytesBuilder,
  type BytesType,
  type Column,
  type FieldType,
  NumberBuilder,
} from "../../src/model/index.js";
import type { Wire } from "./column-types.js";
import { dateText, momentText, timeText } from "./times.js";

/** Tells of a value that could not be kept as it is. */
export type TellUnfit = (code: string, example: string) => void;

/** Takes the values of a column, as a binary COPY has them, into a column of a batch. */
export interface Cells {
  take(bytes: Buffer, from: number, to: number): void;
  none(): void;
  /** The column so far; it starts over. */
  finish(): Column;
}

abstract class NumberCells implements Cells {
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

class BooleanCells extends NumberCells {
  take(bytes: Buffer, from: number): void {
    this.builder.push(bytes[from]!);
  }
}

class IntegerCells extends NumberCells {
  take(bytes: Buffer, from: number, to: number): void {
    this.builder.push(to - from === 2 ? bytes.readInt16BE(from) : bytes.readInt32BE(from));
  }
}

class FloatCells extends NumberCells {
  take(bytes: Buffer, from: number, to: number): void {
    this.builder.push(to - from === 4 ? bytes.readFloatBE(from) : bytes.readDoubleBE(from));
  }
}

const mostSurelyExact = 15;

/** Digits of a decimal number without a sign, a point, zeros before and behind, and where its point is. */
function significant(text: string): string {
  const [, digits = "", decimals = "", power = "0"] = /^-?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const all = `${digits}${decimals}`;
  const first = all.search(/[1-9]/);
  if (first < 0) return "0";
  return `${all.slice(first).replace(/0+$/, "")}e${digits.length - first + Number(power)}`;
}

class DecimalCells extends NumberCells {
  constructor(private readonly tell: TellUnfit) {
    super("double");
  }

  take(bytes: Buffer, from: number, to: number): void {
    const text = bytes.toString("latin1", from, to);
    const value = Number(text);
    this.builder.push(value);
    if (to - from > mostSurelyExact && Number.isFinite(value) && significant(text) !== significant(String(value)))
      this.tell("number-rounded", `${text} became ${value}; --in numeric=text keeps all digits`);
  }
}

class BigintCells implements Cells {
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

class BytesCells implements Cells {
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

class TemporalCells extends BytesCells {
  constructor(
    type: BytesType,
    private readonly textOf: (bytes: Buffer, from: number) => string | null,
    private readonly tell: TellUnfit,
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

const momentReader = (zone: "" | "Z") => (bytes: Buffer, from: number) => momentText(bytes.readBigInt64BE(from), zone);

export function cellsOf(wire: Wire, type: FieldType, tell: TellUnfit): Cells {
  switch (wire) {
    case "boolean":
      return new BooleanCells("boolean");
    case "integer":
      return new IntegerCells("int32");
    case "float":
      return new FloatCells("double");
    case "decimal":
      return new DecimalCells(tell);
    case "bigint":
      return new BigintCells();
    case "date":
      return new TemporalCells("date", (bytes, from) => dateText(bytes.readInt32BE(from)), tell);
    case "time":
      return new TemporalCells("time", (bytes, from) => timeText(Number(bytes.readBigInt64BE(from))), tell);
    case "timestamp":
      return new TemporalCells("datetime", momentReader(""), tell);
    case "timestamptz":
      return new TemporalCells("datetime", momentReader("Z"), tell);
    default:
      return new BytesCells(type as BytesType);
  }
}
