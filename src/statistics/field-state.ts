import type { CountTableState } from "./sketches/count-table.js";
import type { DigestSampleState } from "./sketches/digest-sample.js";
import type { HyperLogLogState } from "./sketches/hyper-log-log.js";
import type { QuantileState } from "./sketches/quantile-sketch.js";

/** The beginning of a text as UTF-8. */
export type TextStart = Uint8Array;

/** Texts are compared by at most so many bytes. */
export const maxStartBytes = 256;

/** Running statistics of a field, as plain data. */
export interface FieldStatisticsState {
  values: number;
  /** Finite numbers, and their sum with the part that rounding lost (A. Neumaier, 1974). */
  numbers: number;
  sum: number;
  lost: number;
  /** Numbers that are not finite. */
  notFinite: number;
  min: number | bigint | null;
  max: number | bigint | null;
  minText: TextStart | null;
  maxText: TextStart | null;
  longest: LongestText | null;
  table: CountTableState;
  /** Null as long as the table has every value. */
  sketches: FieldSketches | null;
}

export interface LongestText {
  bytes: number;
  characters: number;
  start: TextStart;
}

export interface FieldSketches {
  distinct: HyperLogLogState;
  quantiles: QuantileState;
  /** Digests of the values; null once a value occurred twice. */
  unique: DigestSampleState | null;
}

/** What the statistics of one field may take. */
export interface FieldLimits {
  /** Distinct values that are counted exactly, and their bytes. */
  readonly distinct: number;
  readonly keyBytes: number;
  /** Digests that prove that all values are different. */
  readonly digests: number;
}

/** For all fields of a layer together. */
const [totalDistinct, totalKeyBytes, totalDigests] = [500_000, 2 ** 25, 2 ** 23];

const between = (least: number, value: number, most: number): number =>
  Math.max(least, Math.min(most, Math.floor(value)));

/** The limits of each of a number of fields: together at most some 200 MB. */
export const limitsFor = (fields: number): FieldLimits => ({
  distinct: between(200, totalDistinct / fields, 10_000),
  keyBytes: between(8192, totalKeyBytes / fields, 2 ** 20),
  digests: between(4096, totalDigests / fields, 2 ** 20),
});

/** Texts of more bytes are not counted once the table is full. */
export const maxSketchedKeyBytes = 1024;
