/** Encodes batches as FlatGeobuf rows for GDAL, with the geometry as a WKB property. */
import {
  type Batch,
  type BytesColumn,
  type Column,
  decodeUtf8,
  type GeometryColumn,
  isBytesColumn,
  Kind,
  Presence,
  positionRange,
} from "../../../src/model/index.js";
import type { Encoder, TargetLayer } from "../../../src/plugin/index.js";
import type { Dimensions } from "../../shared/dimensions.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import { FeatureWriter } from "./flatgeobuf.js";

/** Rows of a layer, with statistics. */
export interface RowChunk {
  readonly rows: Uint8Array;
  readonly features: number;
  readonly missingZ: number;
  readonly missingM: number;
  /** Empty geometries that became null. */
  readonly empty: number;
  /** By field: number of values that are not null, and the sum of numbers or of text sizes in bytes. */
  readonly values: readonly number[];
  readonly sums: readonly number[];
  /** By field: number of times with a zone, with a zone other than UTC, and with fractions of a second. */
  readonly zoned: readonly number[];
  readonly nonUtc: readonly number[];
  readonly fractions: readonly number[];
  /** By field: numbers with more than 15 digits, if the driver writes only 15. */
  readonly longNumbers: readonly number[];
  /** By field: times with more than milliseconds. */
  readonly subMillisecond: readonly number[];
  /** By field: dates before the first date of the driver, which became null. */
  readonly earlyDates: readonly number[];
  /** Ids of the features that have one. */
  readonly ids: BigInt64Array<ArrayBuffer>;
}

type WriteValue = (writer: FeatureWriter, index: number, row: number) => void;

function createValueWriter(column: Column): WriteValue {
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

/** The id if it is an int64; else null. */
function idAt(ids: Column, row: number): bigint | null {
  if (ids.presence[row] !== Presence.value || (ids.type !== "int32" && ids.type !== "int64")) return null;
  return BigInt(ids.values[row]!);
}

function countValues(column: Column | undefined): number {
  let count = 0;
  for (const presence of column?.presence ?? []) if (presence === Presence.value) count++;
  return count;
}

function countLongNumbers(column: Column | undefined): number {
  if (column?.type !== "double") return 0;
  const { values, presence } = column;
  let count = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (presence[row] === Presence.value && Number.isFinite(value) && Number(value.toPrecision(15)) !== value) count++;
  }
  return count;
}

function countBytes({ offsets, presence }: BytesColumn): number {
  let sum = 0;
  for (let row = 0; row < presence.length; row++)
    if (presence[row] === Presence.value) sum += offsets[row + 1]! - offsets[row]!;
  return sum;
}

function sumValues(column: Column | undefined): number {
  if (!column) return 0;
  if (isBytesColumn(column)) return countBytes(column);
  const { values, presence } = column;
  let sum = 0;
  for (let row = 0; row < values.length; row++) {
    if (presence[row] !== Presence.value) continue;
    const value = Number(values[row]);
    // Integers beyond 2^53 make the sum inexact, so it is not compared.
    sum += column.type !== "int64" || Number.isSafeInteger(value) ? value : Number.NaN;
  }
  return sum;
}

/** Counts times whose text matches the pattern. */
function countTimes(pattern: RegExp, column: Column | undefined): number {
  if (column?.type !== "datetime" && column?.type !== "time") return 0;
  const { offsets, bytes, presence } = column;
  let count = 0;
  for (let row = 0; row < presence.length; row++) {
    if (presence[row] !== Presence.value) continue;
    if (pattern.test(decodeUtf8(bytes, offsets[row]!, offsets[row + 1]!))) count++;
  }
  return count;
}

/** Makes dates and datetimes before `firstDate` null; `count` is their number. */
function dropEarlyDates(column: Column | undefined, firstDate: string | null): { column?: Column; count: number } {
  if (!column) return { count: 0 };
  if (firstDate === null || (column.type !== "date" && column.type !== "datetime")) return { column, count: 0 };
  const { offsets, bytes } = column;
  const presence = column.presence.slice();
  let count = 0;
  for (let row = 0; row < presence.length; row++) {
    if (presence[row] !== Presence.value) continue;
    const text = decodeUtf8(bytes, offsets[row]!, Math.min(offsets[row]! + firstDate.length, offsets[row + 1]!));
    // "+" begins years beyond 9999; it and "-" sort before digits.
    if (text.startsWith("+") || text >= firstDate) continue;
    presence[row] = Presence.null;
    count++;
  }
  return { column: count > 0 ? { ...column, presence } : column, count };
}

const zonedPattern = /T.*(Z|[+-]\d\d:\d\d)$/;
const shiftedPattern = /T.*[+-](?!00:00)\d\d:\d\d$/;
const fractionPattern = /\.\d*[1-9]/;
const subMillisecondPattern = /\.\d{3}\d*[1-9]/;

function hasPositions(geometry: GeometryColumn, row: number): boolean {
  const [from, to] = positionRange(geometry, row);
  if (to > from) return true;
  const { members, memberOffsets } = geometry;
  if (!members || !memberOffsets) return false;
  for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) if (hasPositions(members, k)) return true;
  return false;
}

/** Properties of a driver from the tables of `capabilities.ts`. */
export interface DriverTraits {
  /** Whether all geometries of a layer have the same dimensions. */
  readonly hasOneDimension: boolean;
  /** Whether empty geometries stay empty instead of becoming null. */
  readonly keepsEmpty: boolean;
  readonly hasFifteenDigits: boolean;
  /** First date that the driver writes correctly, as YYYY-MM-DD; null if there is none. */
  readonly firstDate: string | null;
}

/** Order of the columns. */
export const [geometryIndex, idIndex, firstField] = [0, 1, 2] as const;

export class RowEncoder implements Encoder<RowChunk> {
  private readonly wkb = new WkbWriter();
  private readonly writer = new FeatureWriter();

  private readonly dimensions: Dimensions;

  constructor(
    private readonly layer: TargetLayer,
    private readonly traits: DriverTraits,
  ) {
    const { hasZ = false, hasM = false } = layer.summary ?? {};
    this.dimensions = traits.hasOneDimension ? { z: hasZ, m: hasM } : { z: false, m: false };
  }

  encode(batch: Batch): RowChunk {
    const { writer, wkb } = this;
    const byName = new Map(batch.fields.map((field, f) => [field.name, batch.columns[f]!]));
    const dated = (this.layer.fields ?? []).map(({ name }) => dropEarlyDates(byName.get(name), this.traits.firstDate));
    const columns = dated.map(({ column }) => column);
    const puts = columns.map((column) => column && createValueWriter(column));
    const { geometry, ids } = batch;
    let empty = 0;
    wkb.missingZ = 0;
    wkb.missingM = 0;
    const given = new BigInt64Array(batch.length);
    let count = 0;
    for (let row = 0; row < batch.length; row++) {
      writer.begin();
      if (geometry.kinds[row] !== Kind.none) {
        if (!this.traits.keepsEmpty && !hasPositions(geometry, row)) empty++;
        else {
          const bytes = wkb.write(geometry, row, 0, this.dimensions);
          writer.bytes(geometryIndex, bytes, 0, bytes.length);
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
      empty,
      values: columns.map(countValues),
      sums: columns.map(sumValues),
      zoned: columns.map((column) => countTimes(zonedPattern, column)),
      nonUtc: columns.map((column) => countTimes(shiftedPattern, column)),
      fractions: columns.map((column) => countTimes(fractionPattern, column)),
      longNumbers: columns.map((column) => (this.traits.hasFifteenDigits ? countLongNumbers(column) : 0)),
      subMillisecond: columns.map((column) => countTimes(subMillisecondPattern, column)),
      earlyDates: dated.map(({ count }) => count),
      ids: given.slice(0, count),
    };
  }
}
