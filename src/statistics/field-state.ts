import type { DigestSampleState } from "./sketches/digest-sample.js";
import type { QuantileState } from "./sketches/quantiles.js";

/** The beginning of a text as UTF-8. */
export type TextStart = Uint8Array;

/** Texts are compared by at most so many bytes. */
export const maxStartBytes = 256;

/**
 * Values counted by their bytes. Exact until it is purged: then every count is reduced by the median and the values
 * whose count is used up are dropped (D. Anderson et al., "A High-Performance Algorithm for Identifying Frequent Items in
 * Data Streams", 2017, after J. Misra and D. Gries, 1982). A count is then at most `error` less than the true one.
 */
export interface CountTableState {
  size: number;
  /** What kind of value each entry is. */
  tags: Uint8Array;
  /** Two words an entry. */
  hashes: Int32Array;
  counts: Float64Array;
  /** The bytes of entry k are `bytes[ends[k − 1] … ends[k]]`. */
  ends: Uint32Array;
  bytes: Uint8Array;
  error: number;
}

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
  /** Registers of a HyperLogLog. */
  distinct: Uint8Array;
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
