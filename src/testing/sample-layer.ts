import { Batch } from "../model/batch.js";
import { type Column, columnBuilder, pushValue, type Value } from "../model/column.js";
import type { Field, FieldType } from "../model/field.js";
import type { GeometryType } from "../model/geometry.js";
import { GeometryBuilder } from "../model/geometry-builder.js";
import { type Dimensions, GeometrySampler } from "./sample-geometries.js";
import { edgeValues } from "./sample-values.js";

/** What a generated layer holds. */
export interface SampleLayer {
  /** Features; a round of the types, empties and nulls starts again as often as it takes. */
  readonly features: number;
  /** Geometry types in turn; none gives null geometries only. */
  readonly types: readonly GeometryType[];
  readonly dimensions?: Dimensions;
  /** Every eighth feature has a geometry without positions. */
  readonly empty?: boolean;
  /** Every seventh feature has no geometry. */
  readonly nulls?: boolean;
  /** One field of each type, named `f_text`, `f_int64` …, with the edge values in turn, then null, then absent. */
  readonly fieldTypes?: readonly FieldType[];
  /** Fields with values of one's own, in turn; undefined is absent. */
  readonly fields?: readonly (Field & { readonly values: readonly (Value | undefined)[] })[];
  /** Feature ids: whole numbers with gaps, or texts. */
  readonly ids?: "int32" | "text" | null;
  readonly seed?: number;
}

function column(type: FieldType, values: readonly (Value | undefined)[], length: number): Column {
  const builder = columnBuilder(type);
  for (let row = 0; row < length; row++) pushValue(builder, values[row % values.length]);
  return builder.finish();
}

/** One batch of generated features, the same for the same description. */
export function sampleBatch(layer: SampleLayer): Batch {
  const { features, types, dimensions = "xy", ids = null, seed = 1 } = layer;
  const builder = new GeometryBuilder();
  const sampler = new GeometrySampler(builder, dimensions, seed);
  for (let row = 0; row < features; row++) {
    const type = types[row % Math.max(1, types.length)];
    if (type === undefined || (layer.nulls && row % 7 === 6)) sampler.none();
    else if (layer.empty && row % 8 === 5) sampler.empty(type);
    else sampler.add(type, Math.floor(row / types.length));
  }
  const plain = (layer.fieldTypes ?? []).map((type) => ({
    name: `f_${type}`,
    type,
    values: [...edgeValues[type], null, undefined],
  }));
  const fields = [...plain, ...(layer.fields ?? [])];
  return new Batch({
    length: features,
    ids:
      ids &&
      column(
        ids,
        Array.from({ length: features }, (_, row) => (ids === "text" ? `id-${row * 3}` : row * 3)),
        features,
      ),
    fields: fields.map(({ values: _, ...field }) => field),
    columns: fields.map((field) => column(field.type, field.values, features)),
    geometry: builder.finish(),
    recordNumbers: null,
    firstRecord: 1,
  });
}

/** The batch cut into batches of at most `size` features. */
export function* splitIntoBatches(batch: Batch, size: number): Generator<Batch> {
  for (let from = 0; from < batch.length; from += size) {
    const length = Math.min(size, batch.length - from);
    yield batch.take(Uint32Array.from({ length }, (_, row) => from + row));
  }
}
