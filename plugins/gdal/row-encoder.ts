/** Turns batches into rows that GDAL reads: properties of FlatGeobuf, the geometry as WKB in one of them. */
import { type Batch, type Column, decodeUtf8, Kind, Presence } from "../../src/model/index.js";
import type { Encoder, TargetLayer } from "../../src/plugin/index.js";
import { dimensionsOf } from "../shared/dimensions.js";
import { WkbWriter } from "../shared/wkb.js";
import { FeatureWriter } from "./flatgeobuf.js";

/** Rows of a layer, and what was put in for what its geometries lack. */
export interface RowChunk {
  readonly rows: Uint8Array;
  readonly features: number;
  readonly missingZ: number;
  readonly missingM: number;
  /** Geometries without any height in a layer that has heights, and without measures in one that has them. */
  readonly flat: number;
  readonly unmeasured: number;
  /** By field: values that are null, but for dates; times of a time zone; times with parts of a second. */
  readonly nulls: readonly number[];
  readonly zoned: readonly number[];
  readonly fractions: readonly number[];
  /** Times with more than milliseconds. */
  readonly fine: readonly number[];
  /** Those of the features that have one. */
  readonly ids: BigInt64Array<ArrayBuffer>;
}

type Put = (writer: FeatureWriter, index: number, row: number) => void;

/** How a value of the column is written. */
function putOf(column: Column): Put {
  switch (column.type) {
    case "boolean":
      return (writer, index, row) => writer.boolean(index, column.values[row]!);
    case "int32":
      return (writer, index, row) => writer.int32(index, column.values[row]!);
    case "int64":
      return (writer, index, row) => writer.int64(index, column.values[row]!);
    case "double":
      return (writer, index, row) => writer.double(index, column.values[row]!);
    default: {
      const { bytes, offsets } = column;
      return (writer, index, row) => writer.bytes(index, bytes, offsets[row]!, offsets[row + 1]!);
    }
  }
}

/** Ids are numbers that int64 holds. */
function idAt(ids: Column, row: number): bigint | null {
  if (ids.presence[row] !== Presence.value || (ids.type !== "int32" && ids.type !== "int64")) return null;
  return BigInt(ids.values[row]!);
}

const temporal = new Set(["date", "time", "datetime"]);

function nullsIn(column: Column | undefined): number {
  if (!column || temporal.has(column.type)) return 0;
  let count = 0;
  for (const presence of column.presence) if (presence !== Presence.value) count++;
  return count;
}

/** How many of the times in the column have a text that ends, or goes on, so. */
function timesWith(pattern: RegExp, column: Column | undefined): number {
  if (column?.type !== "datetime" && column?.type !== "time") return 0;
  const { offsets, bytes } = column;
  let count = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    if (pattern.test(decodeUtf8(bytes, offsets[row]!, offsets[row + 1]!))) count++;
  }
  return count;
}

const zoned = /T.*(Z|[+-]\d\d:\d\d)$/;
const fraction = /\.\d*[1-9]/;
const fineFraction = /\.\d{3}\d*[1-9]/;

/** The columns of the rows are: the geometry, the id, then the fields. */
export const [geometryIndex, idIndex, firstField] = [0, 1, 2] as const;

export class RowEncoder implements Encoder<RowChunk> {
  private readonly wkb = new WkbWriter();
  private readonly writer = new FeatureWriter();

  constructor(private readonly layer: TargetLayer) {}

  encode(batch: Batch): RowChunk {
    const { writer, wkb } = this;
    const byName = new Map(batch.fields.map((field, f) => [field.name, batch.columns[f]!]));
    const columns = (this.layer.fields ?? []).map(({ name }) => byName.get(name));
    const puts = columns.map((column) => column && putOf(column));
    const { geometry, ids } = batch;
    const { hasZ = false, hasM = false } = this.layer.summary ?? {};
    let [flat, unmeasured] = [0, 0];
    wkb.missingZ = 0;
    wkb.missingM = 0;
    const given = new BigInt64Array(batch.length);
    let count = 0;
    for (let row = 0; row < batch.length; row++) {
      writer.begin();
      if (geometry.kinds[row] !== Kind.none) {
        const bytes = wkb.write(geometry, row);
        writer.bytes(geometryIndex, bytes, 0, bytes.length);
        if (hasZ || hasM) {
          const { z, m } = dimensionsOf(geometry, row);
          if (hasZ && !z) flat++;
          if (hasM && !m) unmeasured++;
        }
      }
      const id = ids && idAt(ids, row);
      if (id !== null) {
        writer.int64(idIndex, id);
        given[count++] = id;
      }
      for (let f = 0; f < columns.length; f++) {
        if (columns[f]?.presence[row] === Presence.value) puts[f]!(writer, firstField + f, row);
      }
      writer.end();
    }
    const { missingZ, missingM } = wkb;
    return {
      rows: writer.finish(),
      features: batch.length,
      missingZ,
      missingM,
      flat,
      unmeasured,
      nulls: columns.map(nullsIn),
      zoned: columns.map((column) => timesWith(zoned, column)),
      fractions: columns.map((column) => timesWith(fraction, column)),
      fine: columns.map((column) => timesWith(fineFraction, column)),
      ids: given.slice(0, count),
    };
  }
}
