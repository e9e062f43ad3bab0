import { type Batch, type Column, Presence } from "../../../src/model/index.js";
import type { Encoder, TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import { reportCoordinateLosses } from "../../shared/coordinate-losses.js";
import { designTable, type WriteOptions } from "../schema/layer-design.js";
import { RecordEncoder } from "../sqlite/record-encoder.js";
import { GeometryEncoder } from "./geometry-encoder.js";
import { type DatetimeLosses, toStoredColumn } from "./stored-columns.js";

/** Rows as SQLite records, with ids, boxes and statistics. */
export interface GeoPackageChunk {
  readonly rows: number;
  /** Record `i` is `records[offsets[i] … offsets[i + 1]]`. */
  readonly records: Uint8Array;
  readonly offsets: Uint32Array;
  /** Requested rowids, and 1 for rows that have one; null if no row has. */
  readonly ids: BigInt64Array | null;
  readonly hasRequestedId: Uint8Array | null;
  /** Min x, min y, max x, max y of each row; min > max (infinities) if empty. */
  readonly boxes: Float64Array | null;
  /** Number of geometries that are not null, and how many of them have heights and measures. */
  readonly geometries: number;
  readonly withZ: number;
  readonly withM: number;
}

function requestedIds(ids: Column | null): Pick<GeoPackageChunk, "ids" | "hasRequestedId"> {
  if (ids?.type !== "int32" && ids?.type !== "int64") return { ids: null, hasRequestedId: null };
  const values = ids.type === "int64" ? ids.values.slice() : BigInt64Array.from(ids.values, BigInt);
  return { ids: values, hasRequestedId: ids.presence.map((presence) => (presence === Presence.value ? 1 : 0)) };
}

/** Counts geometries in which any position has a height or measure. */
function countWithDimension(batch: Batch, dimension: "z" | "m"): number {
  const { geometry } = batch;
  let count = 0;
  for (let row = 0; row < batch.length; row++) if (hasDimension(geometry, row, dimension)) count++;
  return count;
}

function hasDimension(geometry: Batch["geometry"], i: number, dimension: "z" | "m"): boolean {
  const values = geometry[dimension];
  if (values) {
    const { partOffsets, ringOffsets, positionOffsets } = geometry;
    const to = positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!;
    for (let k = positionOffsets[ringOffsets[partOffsets[i]!]!]!; k < to; k++) {
      if (!Number.isNaN(values[k]!)) return true;
    }
  }
  const { members, memberOffsets } = geometry;
  if (!members || !memberOffsets) return false;
  for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) if (hasDimension(members, k, dimension)) return true;
  return false;
}

const anyHasDimension = (geometry: Batch["geometry"], dimension: "z" | "m"): boolean =>
  geometry[dimension] !== null || (geometry.members !== null && anyHasDimension(geometry.members, dimension));

/** @throws unsupported */
export async function createEncoder(
  layer: TargetLayer,
  options: WriteOptions,
  context: WriteContext,
): Promise<Encoder<GeoPackageChunk>> {
  const design = designTable(layer, options);
  const hasGeometry = design.geometry !== null;

  // Buffers are reused for each batch.
  const records = new RecordEncoder(hasGeometry);
  const geometry = new GeometryEncoder(design.srsId);

  function reportDatetimeLosses(
    name: string,
    { assumedUtc: assumed, convertedToUtc: shifted, truncated: cut, outOfRange: beyond }: DatetimeLosses,
  ): void {
    if (assumed > 0) context.reportLoss("zone-assumed", name, "a time without a zone was written as UTC", assumed);
    if (shifted > 0)
      context.reportLoss("zone-dropped", name, "a time with an offset became the same instant in UTC", shifted);
    if (cut > 0) context.reportLoss("time-rounded", name, "fractions beyond milliseconds were cut", cut);
    if (beyond > 0)
      context.reportLoss("date-out-of-range", name, "a time beyond the year 9999 in UTC became null", beyond);
  }

  return {
    encode(batch) {
      const { length } = batch;
      const columns = batch.columns.map((column, c) => {
        const losses: DatetimeLosses = { assumedUtc: 0, convertedToUtc: 0, truncated: 0, outOfRange: 0 };
        const stored = toStoredColumn(column, losses);
        reportDatetimeLosses(batch.fields[c]!.name, losses);
        return stored;
      });
      records.begin(columns);
      geometry.begin();
      const offsets = new Uint32Array(length + 1);
      const boxes = hasGeometry ? new Float64Array(4 * length) : null;
      let geometries = 0;
      for (let row = 0; row < length; row++) {
        const blob = hasGeometry ? geometry.encode(batch.geometry, row) : null;
        if (blob) geometries++;
        if (boxes) for (let side = 0; side < 4; side++) boxes[4 * row + side] = geometry.box[side]!;
        records.add(row, blob);
        offsets[row + 1] = records.size;
      }
      reportCoordinateLosses(geometry, context);
      records.nanCounts.forEach((count, c) => {
        if (count > 0)
          context.reportLoss(
            "non-finite-value",
            batch.fields[c]!.name,
            "NaN, which SQLite does not have, became null",
            count,
          );
      });
      return {
        rows: length,
        records: records.finish(),
        offsets,
        ...requestedIds(batch.ids),
        boxes,
        geometries,
        withZ: anyHasDimension(batch.geometry, "z") ? countWithDimension(batch, "z") : 0,
        withM: anyHasDimension(batch.geometry, "m") ? countWithDimension(batch, "m") : 0,
      };
    },
  };
}
