import { decodeUtf8 } from "../model/column.js";
import type { FieldType } from "../model/field.js";
import { type FieldStatisticsState, maxStartBytes, type TextStart } from "./field-state.js";
import { distinctStandardError, estimateDistinct } from "./sketches/hyper-log-log.js";
import { quantileRankError, weightedValues } from "./sketches/quantiles.js";
import { Tag, valueOfBytes } from "./value-reader.js";

/** A value in a report: integers beyond 2^53 as text, dates and times in ISO 8601, binary as hexadecimal digits. */
export type ReportedValue = boolean | number | string;

export interface FrequentValue {
  readonly value: ReportedValue;
  /** Occurrences; at least, if the counts are not exact. */
  readonly count: number;
}

export interface QuantilesReport {
  /** Values by percentage: the least value that so many percent of the numbers do not exceed. */
  readonly values: Readonly<Record<"5" | "25" | "50" | "75" | "95", number>>;
  readonly exact: boolean;
  /** Share of the numbers by which the rank of a quantile may be wrong (99 % confidence); 0 if exact. */
  readonly rankError: number;
}

/** Statistics of the values of a field. */
export interface FieldStatisticsReport {
  readonly name: string;
  readonly type: FieldType;
  readonly values: number;
  readonly nulls: number;
  readonly distinct: {
    readonly count: number;
    readonly exact: boolean;
    /** Relative standard error of an estimate; 0 if exact. */
    readonly standardError: number;
  };
  /** Least and greatest value of numbers, texts, dates and times; null for other types and without values. */
  readonly min: ReportedValue | null;
  readonly max: ReportedValue | null;
  /** Of finite numbers; null for other types. */
  /** Null without numbers, and if their sum is beyond 1.8e308. */
  readonly mean: number | null;
  /** Numbers that are NaN or infinite, and not part of mean, quantiles, minimum and maximum. */
  readonly notFinite: number;
  readonly quantiles: QuantilesReport | null;
  /** Numbers of finite values in ten ranges of equal width from the minimum to the maximum. */
  readonly histogram: readonly number[] | null;
  readonly frequent: {
    /**
     * Most frequent first, at most ten, longer texts cut after 256 bytes. Values that occur once are listed only if there
     * are at most ten.
     */
    readonly values: readonly FrequentValue[];
    readonly exact: boolean;
    /** How much greater than stated a count can be; 0 if exact. */
    readonly countError: number;
  };
  /** The longest text, cut after 256 bytes, and its whole length; null for other types. */
  readonly longest: { readonly text: string; readonly characters: number; readonly bytes: number } | null;
  /**
   * Whether the field identifies features. `yes`: it has no nulls and all values are different; `probable`: so are those
   * of a sample; `no`: otherwise.
   */
  readonly key: "yes" | "probable" | "no";
}

const maxFrequent = 10;
const percentages = ["5", "25", "50", "75", "95"] as const;
const histogramBins = 10;
const numericTypes: readonly FieldType[] = ["int32", "int64", "double"];
const textTypes: readonly FieldType[] = ["text", "date", "time", "datetime"];

function meanOf({ numbers, sum, lost }: FieldStatisticsState): number | null {
  const mean = (sum + lost) / numbers;
  return Number.isFinite(mean) ? mean : null;
}

/** @param features of the layer, of which each has a value or is a null */
export function reportField(
  { name, type }: { readonly name: string; readonly type: FieldType },
  state: FieldStatisticsState,
  features: number,
): FieldStatisticsReport {
  const isNumeric = numericTypes.includes(type);
  const isText = textTypes.includes(type);
  const weighted = isNumeric ? weightedNumbers(state) : [];
  const nulls = features - state.values;
  const { min, max, minText, maxText, longest } = state;
  return {
    name,
    type,
    values: state.values,
    nulls,
    distinct: reportDistinct(state),
    min: isNumeric && min !== null ? toReported(min) : isText && minText ? decodeStart(minText) : null,
    max: isNumeric && max !== null ? toReported(max) : isText && maxText ? decodeStart(maxText) : null,
    mean: isNumeric ? meanOf(state) : null,
    notFinite: state.notFinite,
    quantiles: weighted.length > 0 ? reportQuantiles(weighted, state.sketches === null) : null,
    histogram: weighted.length > 0 ? reportHistogram(weighted, Number(min), Number(max)) : null,
    frequent: reportFrequent(state, type),
    longest:
      longest && (type === "text" || type === "json")
        ? { text: decodeStart(longest.start), characters: longest.characters, bytes: longest.bytes }
        : null,
    key: state.values === 0 || nulls > 0 ? "no" : keyOf(state),
  };
}

const toReported = (value: boolean | number | bigint | string): ReportedValue =>
  typeof value === "bigint" ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value;

/** A character that was cut in the middle is left out. */
const decodeStart = (start: TextStart): string => decodeUtf8(start, 0, start.length).replace(/\ufffd+$/, "");

function reportDistinct({ table, sketches, values }: FieldStatisticsState): FieldStatisticsReport["distinct"] {
  if (!sketches) return { count: table.size, exact: true, standardError: 0 };
  if (sketches.unique?.level === 0) return { count: values, exact: true, standardError: 0 };
  const count = Math.round(estimateDistinct(sketches.distinct));
  return { count, exact: false, standardError: distinctStandardError };
}

function keyOf({ table, sketches, values }: FieldStatisticsState): FieldStatisticsReport["key"] {
  if (!sketches) return table.size === values ? "yes" : "no";
  if (!sketches.unique) return "no";
  return sketches.unique.level === 0 ? "yes" : "probable";
}

/** Finite numbers in ascending order, and how many each stands for. */
function weightedNumbers({ table, sketches }: FieldStatisticsState): [number, number][] {
  const found: [number, number][] = sketches
    ? weightedValues(sketches.quantiles)
    : Array.from({ length: table.size }, (_, k): [number, number] => [
        Number(valueOfBytes(table.tags[k]!, table.bytes, k === 0 ? 0 : table.ends[k - 1]!, table.ends[k]!)),
        table.counts[k]!,
      ]);
  return found.filter(([value]) => Number.isFinite(value)).sort(([a], [b]) => a - b);
}

function reportQuantiles(weighted: readonly [number, number][], exact: boolean): QuantilesReport {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
  const at = (percentage: number): number => {
    const rank = (percentage * total) / 100;
    let below = 0;
    for (const [value, weight] of weighted) {
      below += weight;
      if (below >= rank) return value;
    }
    return weighted.at(-1)![0];
  };
  const values = Object.fromEntries(percentages.map((percentage) => [percentage, at(Number(percentage))]));
  return { values: values as QuantilesReport["values"], exact, rankError: exact ? 0 : quantileRankError };
}

function reportHistogram(weighted: readonly [number, number][], min: number, max: number): number[] {
  const bins = new Array<number>(histogramBins).fill(0);
  // Without overflow where the range is wider than the greatest double.
  const share = (value: number) => (max === min ? 0 : (value / 2 - min / 2) / (max / 2 - min / 2));
  for (const [value, weight] of weighted)
    bins[Math.max(0, Math.min(histogramBins - 1, Math.floor(share(value) * histogramBins)))]! += weight;
  return bins;
}

function shownValue(tag: number, bytes: Uint8Array, from: number, to: number): boolean | number | bigint | string {
  if (to - from <= maxStartBytes) return valueOfBytes(tag, bytes, from, to);
  const start = bytes.subarray(from, from + maxStartBytes);
  return tag === Tag.binary ? Buffer.from(start).toString("hex") : decodeStart(start);
}

function reportFrequent({ table, sketches }: FieldStatisticsState, type: FieldType): FieldStatisticsReport["frequent"] {
  const { size, counts, tags, bytes, ends, error } = table;
  const exact = sketches === null;
  // Of smaller counts, others may be more frequent.
  const least = exact ? (size > maxFrequent ? 2 : 1) : Math.max(2, error + 1);
  const entries = Array.from({ length: size }, (_, entry) => entry)
    .filter((entry) => counts[entry]! >= least)
    .sort((a, b) => counts[b]! - counts[a]! || a - b)
    .slice(0, maxFrequent);
  const values = entries.map((entry) => {
    const value = shownValue(tags[entry]!, bytes, entry === 0 ? 0 : ends[entry - 1]!, ends[entry]!);
    const isWide = type === "int64" && typeof value === "number" && !Number.isSafeInteger(value);
    return { value: toReported(isWide ? BigInt(value) : value), count: counts[entry]! };
  });
  return { values, exact, countError: exact ? 0 : error };
}
