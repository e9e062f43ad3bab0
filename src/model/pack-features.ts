import { Batch, type Feature } from "./batch.js";
import { type BytesBuilder, type Column, columnBuilder, pushValue, type Value } from "./column.js";
import { commonType, type Field, type FieldType } from "./field.js";
import { GeometryBuilder } from "./geometry-builder.js";

/** The type of a JSON value, null for null and undefined. */
export function fieldTypeOfValue(value: unknown): FieldType | null {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return Number.isInteger(value) && Math.abs(value) < 2 ** 31
        ? "int32"
        : Number.isSafeInteger(value)
          ? "int64"
          : "double";
    case "bigint":
      return "int64";
    case "string":
      return "text";
    case "object":
      return value === null ? null : value instanceof Uint8Array ? "binary" : "json";
    default:
      return null;
  }
}

function packColumn(type: FieldType, values: readonly unknown[]): Column {
  const builder = columnBuilder(type, values.length);
  for (const value of values) {
    if (type === "json" && value !== null && value !== undefined) {
      (builder as BytesBuilder).push(
        JSON.stringify(value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value),
      );
    } else pushValue(builder, value as Value | undefined);
  }
  return builder.finish();
}

function packIds(features: readonly Feature[]): Column | null {
  if (features.every((feature) => feature.id === undefined)) return null;
  const ids = features.map((feature) => feature.id ?? null);
  const types = new Set(ids.map(fieldTypeOfValue).filter((type) => type !== null));
  return packColumn([...types].reduce(commonType, [...types][0]!), ids);
}

/**
 * Packs features into a batch. With `declared` fields, the properties are taken by those names and must be of those
 * types (dates, times and json as text, int64 as bigint or number, binary as Uint8Array); without, the fields are those that the features have,
 * in the order of their first appearance, each with the narrowest type that holds all of its values.
 */
export function packFeatures(
  features: readonly Feature[],
  firstRecord: number,
  declared?: readonly Field[] | null,
): Batch {
  const fields = declared ?? inferFields(features);
  const geometry = new GeometryBuilder();
  for (const feature of features) geometry.addGeoJson(feature.geometry);
  return new Batch({
    length: features.length,
    ids: packIds(features),
    fields,
    columns: fields.map((field) =>
      packColumn(
        field.type,
        features.map((feature) =>
          Object.hasOwn(feature.properties, field.name) ? feature.properties[field.name] : undefined,
        ),
      ),
    ),
    geometry: geometry.finish(),
    recordNumbers: null,
    firstRecord,
  });
}

function inferFields(features: readonly Feature[]): Field[] {
  const types = new Map<string, FieldType | null>();
  for (const feature of features) {
    for (const [name, value] of Object.entries(feature.properties)) {
      const type = fieldTypeOfValue(value);
      const known = types.get(name) ?? null;
      types.set(name, known && type ? commonType(known, type) : (known ?? type));
    }
  }
  return [...types].map(([name, type]) => ({ name, type: type ?? "text" }));
}
