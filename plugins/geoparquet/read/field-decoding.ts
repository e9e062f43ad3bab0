/** How the values of a column become those of a field (Parquet, LogicalTypes.md). */
import type { SchemaElement } from "hyparquet";
import type { FieldType } from "../../../src/model/index.js";

export type TimeUnit = "MILLIS" | "MICROS" | "NANOS";

/** Plain data. */
export type Decoding =
  | { readonly kind: "plain" | "uint32" | "uint64" | "float16" | "uuid" | "interval" | "int96" | "null" }
  | { readonly kind: "time"; readonly unit: TimeUnit }
  | { readonly kind: "datetime"; readonly unit: TimeUnit; readonly isUtc: boolean }
  | { readonly kind: "decimal"; readonly scale: number };

export interface FieldDecoding {
  readonly type: FieldType;
  readonly decoding: Decoding;
  /** A notice for the user. */
  readonly note?: string;
}

const plain = (type: FieldType): FieldDecoding => ({ type, decoding: { kind: "plain" } });

/** Decimal digits that a double holds exactly. */
const doubleDigits = 15;
const int32Digits = 9;
const int64Digits = 18;

function decimal(declared: number, scale: number, usedDigits: number | null): FieldDecoding {
  const decoding = { kind: "decimal", scale } as const;
  const precision = Math.min(declared, usedDigits ?? declared);
  if (scale === 0 && precision <= int32Digits) return { type: "int32", decoding };
  if (scale === 0 && precision <= int64Digits) return { type: "int64", decoding };
  if (precision <= doubleDigits) return { type: "double", decoding };
  const note = `decimal numbers of ${precision} digits, more than a double holds, are read as text`;
  return { type: "text", decoding, note };
}

/** What the statistics of a column say about its values. */
export interface ValueFacts {
  /** Whether an unsigned integer may not fit an int64. */
  readonly exceedsInt64: boolean;
  /** Most digits of a decimal number; null if unknown. */
  readonly digits: number | null;
}

export const unknownFacts: ValueFacts = { exceedsInt64: true, digits: null };

export function decodingOf(element: SchemaElement, facts: ValueFacts): FieldDecoding {
  const { type, logical_type: logical, converted_type: converted } = element;
  if (logical?.type === "NULL") return { type: "text", decoding: { kind: "null" } };
  if (logical?.type === "DECIMAL") return decimal(logical.precision, logical.scale, facts.digits);
  if (converted === "DECIMAL") return decimal(element.precision ?? int64Digits, element.scale ?? 0, facts.digits);
  switch (type) {
    case "BOOLEAN":
      return plain("boolean");
    case "FLOAT":
    case "DOUBLE":
      return plain("double");
    case "INT96":
      return { type: "datetime", decoding: { kind: "int96" } };
    case "INT32":
      if (logical?.type === "DATE" || converted === "DATE") return plain("date");
      if (logical?.type === "TIME") return { type: "time", decoding: { kind: "time", unit: logical.unit } };
      if (converted === "TIME_MILLIS") return { type: "time", decoding: { kind: "time", unit: "MILLIS" } };
      if (converted === "UINT_32" || (logical?.type === "INTEGER" && !logical.isSigned && logical.bitWidth === 32))
        return { type: "int64", decoding: { kind: "uint32" } };
      return plain("int32");
    case "INT64":
      return int64Decoding(element, facts.exceedsInt64);
    default:
      return bytesDecoding(element);
  }
}

function int64Decoding({ logical_type: logical, converted_type: converted }: SchemaElement, exceedsInt64: boolean) {
  if (logical?.type === "TIMESTAMP") {
    const decoding = { kind: "datetime", unit: logical.unit, isUtc: logical.isAdjustedToUTC } as const;
    return { type: "datetime", decoding } as const;
  }
  if (logical?.type === "TIME") return { type: "time", decoding: { kind: "time", unit: logical.unit } } as const;
  switch (converted) {
    case "TIMESTAMP_MILLIS":
      return { type: "datetime", decoding: { kind: "datetime", unit: "MILLIS", isUtc: true } } as const;
    case "TIMESTAMP_MICROS":
      return { type: "datetime", decoding: { kind: "datetime", unit: "MICROS", isUtc: true } } as const;
    case "TIME_MICROS":
      return { type: "time", decoding: { kind: "time", unit: "MICROS" } } as const;
    default:
  }
  const isUnsigned = converted === "UINT_64" || (logical?.type === "INTEGER" && !logical.isSigned);
  if (!isUnsigned || !exceedsInt64) return plain("int64");
  const note = "unsigned integers of 64 bits, which may be beyond those with a sign, are read as text";
  return { type: "text", decoding: { kind: "uint64" }, note } as const;
}

function bytesDecoding({ logical_type: logical, converted_type: converted }: SchemaElement): FieldDecoding {
  switch (logical?.type ?? converted) {
    case "STRING":
    case "UTF8":
    case "ENUM":
      return plain("text");
    case "JSON":
      return plain("json");
    case "UUID":
      return { type: "text", decoding: { kind: "uuid" } };
    case "FLOAT16":
      return { type: "double", decoding: { kind: "float16" } };
    case "INTERVAL":
      return { type: "text", decoding: { kind: "interval" } };
    default:
      return plain("binary");
  }
}
