import { type Field, type FieldType, Kind, typesIn, uniqueName } from "../../../src/model/index.js";
import { createError, type OptionValues, type TargetLayer } from "../../../src/plugin/index.js";
import type { writeOptions } from "../index.js";
import { type CodecName, canCompressZstd } from "../parquet/codecs.js";
import type { ValueKind } from "./column-part.js";

export type WriteOptions = OptionValues<typeof writeOptions>;

/** Physical types, with their numbers in the format. */
export const physicalTypes = { BOOLEAN: 0, INT32: 1, INT64: 2, FLOAT: 4, DOUBLE: 5, BYTE_ARRAY: 6 } as const;
export type PhysicalType = keyof typeof physicalTypes;

export const physicalTypeOf: Readonly<Record<FieldType, PhysicalType>> = {
  boolean: "BOOLEAN",
  int32: "INT32",
  int64: "INT64",
  double: "DOUBLE",
  text: "BYTE_ARRAY",
  date: "INT32",
  time: "INT64",
  datetime: "INT64",
  binary: "BYTE_ARRAY",
  json: "BYTE_ARRAY",
};

/** How the values of a type are encoded and compared. */
export const kindOf: Readonly<Record<FieldType, ValueKind>> = {
  boolean: "boolean",
  int32: "int32",
  int64: "int64",
  double: "double",
  text: "text",
  date: "int32",
  time: "int64",
  datetime: "int64",
  binary: "bytes",
  json: "bytes",
};

/** Sides of the column that covers the geometries, in the order of a box. */
export const boxSides = ["xmin", "ymin", "xmax", "ymax"] as const;

/** The columns of a file. Their leaves are those of the fields, then the geometry, then the sides of the box. */
export interface Layout {
  readonly fields: readonly Field[];
  /** Names of the geometry column and the one of its boxes; null if there is none. */
  readonly geometry: string | null;
  readonly box: string | null;
  readonly codec: CodecName;
}

/** Derived from the layer alone, so that encoders and the assembler agree. @throws option-invalid */
export function createLayout(layer: TargetLayer, options: WriteOptions): Layout {
  const { summary, fields } = layer;
  if (!summary || !fields) throw createError("internal", { reason: "writing Parquet needs a summary of the layer" });
  const taken = new Set(fields.map((field) => field.name));
  const isTable = typesIn(summary).length === 0 && (summary.kinds[Kind.none]!.count > 0 || layer.crs === null);
  const geometry = isTable ? null : uniqueName(options.geometry ?? layer.columnNames?.geometry ?? "geometry", taken);
  if (geometry !== null) taken.add(geometry);
  const box = geometry !== null && options.bbox ? uniqueName("bbox", taken) : null;
  return { fields, geometry, box, codec: chooseCodec(options.compression) };
}

function chooseCodec(wanted: CodecName | undefined): CodecName {
  if (wanted === undefined) return canCompressZstd ? "zstd" : "snappy";
  if (wanted === "zstd" && !canCompressZstd) {
    const expected = "available before Node.js 22.15; use that or a later one, or another compression, such as gzip";
    throw createError("option-invalid", { option: "compression", value: wanted, expected });
  }
  return wanted;
}
