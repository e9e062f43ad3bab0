/** Builds columns from the values of gdal-async. */
import { BigintBuilder, BytesBuilder, type Column, type FieldType, NumberBuilder } from "../../../src/model/index.js";
import type { FieldPlan } from "../process/protocol.js";
import { type DateParts, partsToIso, textToIso } from "./temporal.js";

export interface ValueColumn {
  /** Integers rounded to a double since the last reset. */
  rounded: number;
  /** Dates and times that became null since the last reset, as the calendar lacks them. */
  unreadable: number;
  /** Adds a value; null is null, undefined is binary of length 0. */
  add(value: unknown): void;
  finish(): Column;
}

abstract class BaseValueColumn<B extends NumberBuilder | BigintBuilder | BytesBuilder> implements ValueColumn {
  rounded = 0;
  unreadable = 0;

  constructor(
    private readonly make: () => B,
    protected builder: B = make(),
  ) {}

  add(value: unknown): void {
    if (value === null) this.builder.pushNull();
    else this.value(value);
  }

  protected abstract value(value: unknown): void;

  finish(): Column {
    const column = this.builder.finish();
    this.builder = this.make();
    return column;
  }
}

class NumberValueColumn extends BaseValueColumn<NumberBuilder> {
  constructor(type: "boolean" | "int32" | "double") {
    super(() => new NumberBuilder(type));
  }

  protected value(value: unknown): void {
    this.builder.push(value as number);
  }
}

class Int64ValueColumn extends BaseValueColumn<BigintBuilder> {
  constructor() {
    super(() => new BigintBuilder());
  }

  protected value(value: unknown): void {
    if (typeof value === "number" && !Number.isSafeInteger(value)) this.rounded++;
    this.builder.push(BigInt(value as string | number));
  }
}

class TextValueColumn extends BaseValueColumn<BytesBuilder> {
  constructor(
    type: FieldType & ("text" | "json"),
    private readonly textOf: (value: unknown) => string,
  ) {
    super(() => new BytesBuilder(type));
  }

  protected value(value: unknown): void {
    if (Array.isArray(value) && value.some((each) => Number.isInteger(each) && !Number.isSafeInteger(each)))
      this.rounded++;
    this.builder.push(this.textOf(value));
  }
}

class BinaryValueColumn extends BaseValueColumn<BytesBuilder> {
  constructor() {
    super(() => new BytesBuilder("binary"));
  }

  protected value(value: unknown): void {
    const bytes = value === undefined ? new Uint8Array(0) : (value as Buffer);
    this.builder.pushBytes(bytes, 0, bytes.length);
  }
}

class TemporalValueColumn extends BaseValueColumn<BytesBuilder> {
  constructor(private readonly type: "date" | "time" | "datetime") {
    super(() => new BytesBuilder(type));
  }

  protected value(value: unknown): void {
    const text =
      typeof value === "string" ? textToIso(this.type, value) : partsToIso(this.type, (value ?? {}) as DateParts);
    if (text === null) {
      this.unreadable++;
      this.builder.pushNull();
    } else this.builder.push(text);
  }
}

/** @param byText whether values are OGR's text form instead of gdal-async's values */
export function createValueColumn({ ogrType, type }: FieldPlan, byText: boolean): ValueColumn {
  switch (type) {
    case "boolean":
    case "int32":
    case "double":
      return new NumberValueColumn(type);
    case "int64":
      return new Int64ValueColumn();
    case "date":
    case "time":
    case "datetime":
      return new TemporalValueColumn(type);
    case "binary":
      return new BinaryValueColumn();
    case "json":
      return new TextValueColumn("json", (value) =>
        typeof value === "string" && !byText && ogrType === "OFTString" ? toJson(value) : JSON.stringify(value),
      );
    default:
      return new TextValueColumn("text", String);
  }
}

/** Valid JSON text is kept; any other text becomes a JSON string. */
function toJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
