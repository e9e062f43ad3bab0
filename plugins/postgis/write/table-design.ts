import { type Field, type FieldType, type GeometryType, Kind, typesIn } from "../../../src/model/index.js";
import { createError, type OptionValues, type TargetLayer } from "../../../src/plugin/index.js";
import { uniqueName } from "../identifiers.js";
import type { writeOptions } from "../index.js";
import { maxFields } from "../limits.js";

export type WriteOptions = OptionValues<typeof writeOptions>;

/** The table of a layer. Derived from the layer alone, so that encoders and assembler agree on it. */
export interface TableDesign {
  readonly fid: { readonly column: string; readonly type: "int32" | "int64" };
  /** Null for a table without geometry. */
  readonly geometry: {
    readonly column: string;
    /** Null if there are several. */
    readonly type: GeometryType | null;
    readonly z: boolean;
    readonly m: boolean;
  } | null;
  readonly fields: readonly Field[];
}

/** @throws unsupported */
export function designTable(layer: TargetLayer, options: WriteOptions): TableDesign {
  const { summary, fields, crs } = layer;
  if (!summary || !fields) throw createError("internal", { reason: "writing a table needs a summary of the layer" });
  if (fields.length > maxFields) {
    const reason = `${fields.length} fields exceed the limit of ${maxFields} per table; choose fields with --select`;
    throw createError("unsupported", { source: layer.name, reason });
  }
  const taken = new Set(fields.map((field) => field.name));
  const fid = uniqueName(options.fid, taken);
  const types = typesIn(summary);
  const isTable = types.length === 0 && (summary.kinds[Kind.none]!.count > 0 || crs === null);
  const { hasZ: z, hasM: m } = summary;
  return {
    fid: { column: fid, type: summary.idType === "int64" ? "int64" : "int32" },
    geometry: isTable
      ? null
      : {
          column: uniqueName(options.geometry, taken.add(fid)),
          type: types.length === 1 ? types[0]! : null,
          z,
          m,
        },
    fields,
  };
}

/** Column type of a field. `datetime` has a zone unless no value has one. */
export function columnTypeOf(type: FieldType, { json }: WriteOptions): string {
  return type === "json" ? json : columnTypes[type];
}

const columnTypes: Readonly<Record<FieldType, string>> = {
  boolean: "boolean",
  int32: "integer",
  int64: "bigint",
  double: "double precision",
  text: "text",
  date: "date",
  time: "time without time zone",
  datetime: "timestamp with time zone",
  binary: "bytea",
  json: "json",
};
