import type { Batch } from "../../model/batch.js";
import {
  type BytesColumn,
  type Column,
  columnBuilder,
  type DoubleColumn,
  type Int32Column,
  type Int64Column,
  isBytesColumn,
  Presence,
  pushValue,
  valueAt,
} from "../../model/column.js";
import type { Field, FieldType } from "../../model/field.js";
import { temporalTypeAt } from "../../model/temporal-type.js";
import { fieldTypeMapSetting, type StageSettings } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";
import { CastLosses, castValue, doubleToInt32, doubleToInt64, int64ToDouble, int64ToInt32 } from "./cast-value.js";

export interface CastSettings {
  /** Field name → type. Names that a batch does not have are ignored. */
  readonly map: Readonly<Record<string, FieldType>> | ReadonlyMap<string, FieldType>;
}

/** A field of another type: the width and decimals that the source declared were those of the old one. */
const withType = (field: Field, type: FieldType): Field => (field.type === type ? field : { name: field.name, type });

export function build(settings: StageSettings, context: StageContext): Stage {
  const types = fieldTypeMapSetting(settings, "map");
  return {
    apply(batch: Batch): Batch {
      if (!batch.fields.some((field) => types.has(field.name) && types.get(field.name) !== field.type)) return batch;
      return batch.with({
        fields: batch.fields.map((field) => withType(field, types.get(field.name) ?? field.type)),
        columns: batch.columns.map((column, f) => {
          const { name } = batch.fields[f]!;
          return castColumn(column, types.get(name) ?? column.type, name, context);
        }),
      });
    },
  };
}

/**
 * The column as type `to`: the column itself where it has that type. Null stays null and absent stays absent.
 *
 * Losses, one call each a batch with the count:
 * - `cast-failed`: the value has no counterpart (text that is not a number, 3e9 as int32) and became null;
 * - `cast-rounded`: a fraction asked for as int32 or int64 became the nearest whole number, halves away from zero;
 * - `rounded`: an int64 beyond 2^53 that a double does not hold exactly;
 * - `time-dropped`, `date-dropped`: a datetime as a date or a time (midnight without an offset is not a loss).
 *
 * Text made of blanks becomes null without a loss. JSON strings are unquoted as text, and text becomes a JSON string;
 * an int64 beyond 2^53 becomes a JSON string, since JSON numbers are read as doubles. Bytes are base64 as text.
 */
export function castColumn(
  column: Column,
  to: FieldType,
  field: string,
  context: Pick<StageContext, "reportLoss">,
): Column {
  if (column.type === to) return column;
  const costs = new CastLosses();
  const cast = castArrays(column, to, costs) ?? castEach(column, to, costs);
  for (const [code, { count, example }] of costs.byCode) context.reportLoss(code, field, example, count);
  return cast;
}

function castEach(column: Column, to: FieldType, costs: CastLosses): Column {
  const builder = columnBuilder(to, column.presence.length);
  for (let row = 0; row < column.presence.length; row++) {
    const value = valueAt(column, row);
    if (value !== null) pushValue(builder, castValue(value, column.type, to, costs));
    else builder.pushNull(column.presence[row]);
  }
  return builder.finish();
}

/** Casts whole arrays for common pairs of types; null for other pairs. */
function castArrays(column: Column, to: FieldType, costs: CastLosses): Column | null {
  if (isBytesColumn(column)) return to === "text" ? shareText(column) : shareTemporal(column, to);
  switch (column.type) {
    case "int32":
      return to === "double" || to === "int64" ? widenInt32(column, to) : to === "text" ? int32ToText(column) : null;
    case "int64":
      return to === "double"
        ? int64ToDoubleColumn(column, costs)
        : to === "int32"
          ? int64ToInt32Column(column, costs)
          : null;
    case "double":
      return to === "int32" || to === "int64" ? doubleToIntegerColumn(column, to, costs) : null;
    default:
      return null;
  }
}

/** Shares the bytes of dates, times and json without strings, which are valid as text. */
function shareText(column: BytesColumn): Column | null {
  if (column.type === "binary") return null;
  if (column.type === "json") {
    const quote = 0x22;
    for (let row = 0; row < column.presence.length; row++) {
      const first = column.bytes[column.offsets[row]!];
      // Leading blanks are handled by the general cast.
      if (column.offsets[row + 1]! > column.offsets[row]! && (first === quote || first! <= 0x20)) return null;
    }
  }
  return { ...column, type: "text" };
}

/** Shares the bytes of text that consists only of canonical dates or times of the type. */
function shareTemporal(column: BytesColumn, to: FieldType): Column | null {
  if (column.type !== "text" || (to !== "date" && to !== "time" && to !== "datetime")) return null;
  const { presence, offsets, bytes } = column;
  for (let row = 0; row < presence.length; row++) {
    if (presence[row] !== Presence.value) continue;
    const from = offsets[row]!;
    if (temporalTypeAt(bytes, from, offsets[row + 1]!) !== to) return null;
  }
  return { ...column, type: to };
}

function widenInt32(column: Int32Column, to: "double" | "int64"): Column {
  const { presence } = column;
  if (to === "double") return { type: to, presence, values: Float64Array.from(column.values) };
  const values = new BigInt64Array(column.values.length);
  for (let i = 0; i < values.length; i++) values[i] = BigInt(column.values[i]!);
  return { type: to, presence, values };
}

/** `-2147483648` */
const int32Bytes = 11;

function int32ToText(column: Int32Column): Column {
  const { presence, values } = column;
  const room = new Uint8Array(values.length * int32Bytes);
  const offsets = new Uint32Array(values.length + 1);
  let end = 0;
  for (let i = 0; i < values.length; i++) {
    if (presence[i] === Presence.value) {
      let rest = values[i]!;
      if (rest < 0) {
        room[end++] = 0x2d;
        rest = -rest;
      }
      let digits = 1;
      for (let least = 10; least <= rest; least *= 10) digits++;
      end += digits;
      for (let at = end - 1; digits > 0; digits--) {
        room[at--] = 0x30 + (rest % 10);
        rest = Math.floor(rest / 10);
      }
    }
    offsets[i + 1] = end;
  }
  return { type: "text", presence, offsets, bytes: room.slice(0, end) };
}

function int64ToDoubleColumn(column: Int64Column, costs: CastLosses): DoubleColumn {
  const values = new Float64Array(column.values.length);
  for (let i = 0; i < values.length; i++) {
    if (column.presence[i] === Presence.value) values[i] = int64ToDouble(column.values[i]!, costs);
  }
  return { type: "double", presence: column.presence, values };
}

function int64ToInt32Column(column: Int64Column, costs: CastLosses): Int32Column {
  const values = new Int32Array(column.values.length);
  const presence = column.presence.slice();
  for (let i = 0; i < values.length; i++) {
    if (presence[i] !== Presence.value) continue;
    const value = int64ToInt32(column.values[i]!, costs);
    if (value === null) presence[i] = Presence.null;
    else values[i] = value;
  }
  return { type: "int32", presence, values };
}

function doubleToIntegerColumn(column: DoubleColumn, to: "int32" | "int64", costs: CastLosses): Column {
  const presence = column.presence.slice();
  const int32 = to === "int32" ? new Int32Array(presence.length) : null;
  const int64 = to === "int64" ? new BigInt64Array(presence.length) : null;
  for (let i = 0; i < presence.length; i++) {
    if (presence[i] !== Presence.value) continue;
    const value = int32 ? doubleToInt32(column.values[i]!, costs) : doubleToInt64(column.values[i]!, costs);
    if (value === null) presence[i] = Presence.null;
    else if (int32) int32[i] = value as number;
    else int64![i] = value as bigint;
  }
  return int32 ? { type: "int32", presence, values: int32 } : { type: "int64", presence, values: int64! };
}
