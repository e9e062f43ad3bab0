import {
  type BytesColumn,
  type Column,
  type DoubleColumn,
  type Int32Column,
  isBytesColumn,
  Presence,
} from "../model/column.js";
import {
  type CountTableState,
  type FieldLimits,
  type FieldSketches,
  type FieldStatisticsState,
  type LongestText,
  maxStartBytes,
} from "./field-state.js";
import { DigestSample } from "./sketches/digest-sample.js";
import { ValueCounter } from "./value-counter.js";
import { Tag, ValueReader } from "./value-reader.js";

/** Order of the first bytes of two texts: that of their code points. */
function compareStarts(bytes: Uint8Array, from: number, to: number, start: Uint8Array): number {
  const length = Math.min(to - from, maxStartBytes);
  for (let k = 0; k < length && k < start.length; k++) {
    const difference = bytes[from + k]! - start[k]!;
    if (difference !== 0) return difference;
  }
  return length - start.length;
}

const startOf = (bytes: Uint8Array, from: number, to: number): Uint8Array =>
  bytes.slice(from, Math.min(to, from + maxStartBytes));

function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  // Continuation bytes of UTF-8 begin with the bits 10.
  for (let at = from; at < to; at++) if ((bytes[at]! & 0xc0) !== 0x80) count++;
  return count;
}

/** What takes over when there are too many distinct values, beside the sketches of the table. */
interface Sketches {
  unique: DigestSample | null;
}

const emptyState = (): Omit<FieldStatisticsState, "table" | "sketches"> => ({
  values: 0,
  numbers: 0,
  sum: 0,
  lost: 0,
  notFinite: 0,
  min: null,
  max: null,
  minText: null,
  maxText: null,
  longest: null,
});

const reader = new ValueReader();

/** Collects the statistics of the values of a field, and merges those of later ones. */
export class FieldStatistics {
  private readonly state = emptyState();
  private readonly table;
  private sketches: Sketches | null = null;

  constructor(
    private readonly limits: FieldLimits,
    /** Counts the values of all fields of a layer. */
    private readonly counter = new ValueCounter(),
  ) {
    this.table = counter.createTable(limits);
  }

  add(column: Column, length: number): void {
    if (column.type === "double" || column.type === "int32") this.addNumbers(column, length);
    else if (isBytesColumn(column) && column.type !== "json") this.addTexts(column, length);
    else this.addValues(column, length);
  }

  private addNumbers({ values, presence }: DoubleColumn | Int32Column, length: number): void {
    const rows = this.counter.reserveNumbers(Tag.number, length);
    rows.presence.set(presence.subarray(0, length));
    rows.numbers.set(values.subarray(0, length));
    this.addAllNumbers(length);
    const first = this.countRows(length);
    if (first < length) this.table.addQuantiles(first, length);
  }

  private addTexts({ type, bytes, offsets, presence }: BytesColumn, length: number): void {
    const { counter } = this;
    const rows = counter.reserveTexts(type === "binary" ? Tag.binary : Tag.text, length, offsets[length]!);
    rows.presence.set(presence.subarray(0, length));
    rows.ends.set(offsets.subarray(0, length + 1));
    rows.bytes.set(bytes.subarray(0, offsets[length]!));
    this.countRows(length);
    if (type !== "binary")
      for (const row of counter.extremeTexts(length)) this.addText(bytes, offsets[row]!, offsets[row + 1]!);
  }

  /** Values of other columns, one by one. */
  private addValues(column: Column, length: number): void {
    const { presence } = column;
    const isJson = isBytesColumn(column);
    const size = 8 * length + (isJson ? column.offsets[length]! : 0);
    const rows = this.counter.reserveTexts(Tag.json, length, size);
    rows.presence.set(presence.subarray(0, length));
    rows.ends[0] = 0;
    for (let row = 0, end = 0; row < length; row++) {
      if (presence[row] === Presence.value) {
        reader.read(column, row);
        const { tag, bytes, from, to } = reader;
        rows.tags[row] = tag;
        rows.bytes.set(bytes.subarray(from, to), end);
        end += to - from;
        if (tag === Tag.number || tag === Tag.integer) this.addNumber(reader.number);
        else if (tag === Tag.text || tag === Tag.json) this.addText(bytes, from, to);
      }
      rows.ends[row + 1] = end;
    }
    const first = this.countRows(length);
    if (first < length) this.table.addQuantileRows(first, length);
  }

  /** Counts the rows that were written. @returns the first one that went to the sketches */
  private countRows(length: number): number {
    const { state, counter } = this;
    state.values += counter.countPresent(length);
    counter.hash(length);
    const first = this.countExactly(length);
    if (first === length) return first;
    this.table.sketch(first, length);
    this.addDigests(first, length);
    return first;
  }

  /** Counts rows in the table as long as it is exact. @returns the row behind the last one of these */
  private countExactly(length: number): number {
    if (this.sketches) return 0;
    const { table } = this;
    const first = table.count(length);
    if (table.isFull) {
      this.startSketches();
      table.purge();
    }
    return first;
  }

  /** Looks for repetitions of the rows from `first` on. */
  private addDigests(first: number, length: number): void {
    const sketches = this.sketches!;
    const { hashes, presence } = this.counter.rows;
    sketches.unique?.addPresent(hashes, presence, first, length);
    if (sketches.unique?.hasFoundRepeated) sketches.unique = null;
  }

  private addAllNumbers(length: number): void {
    const { state } = this;
    const { sum, lost, least, greatest, finite, notFinite } = this.counter.addNumbers(length, state.sum, state.lost);
    state.numbers += finite;
    state.notFinite += notFinite;
    state.sum = sum;
    state.lost = lost;
    if (finite > 0) this.addRange(least, greatest);
  }

  private addNumber(value: number | bigint): void {
    const { state } = this;
    const number = typeof value === "number" ? value : Number(value);
    if (!Number.isFinite(number)) {
      state.notFinite++;
      return;
    }
    state.numbers++;
    this.addToSum(number);
    this.addRange(value, value);
  }

  private addRange(min: number | bigint, max: number | bigint): void {
    const { state } = this;
    if (state.min === null || min < state.min) state.min = min;
    if (state.max === null || max > state.max) state.max = max;
  }

  private addToSum(number: number): void {
    const { state } = this;
    const sum = state.sum + number;
    state.lost += Math.abs(state.sum) >= Math.abs(number) ? state.sum - sum + number : number - sum + state.sum;
    state.sum = sum;
  }

  private addText(bytes: Uint8Array, from: number, to: number): void {
    const { state } = this;
    if (state.minText === null || compareStarts(bytes, from, to, state.minText) < 0)
      state.minText = startOf(bytes, from, to);
    if (state.maxText === null || compareStarts(bytes, from, to, state.maxText) > 0)
      state.maxText = startOf(bytes, from, to);
    if (state.longest === null || to - from > state.longest.bytes) {
      const characters = countCharacters(bytes, from, to);
      state.longest = { bytes: to - from, characters, start: startOf(bytes, from, to) };
    }
  }

  /** Passes the values of the table to sketches. */
  private startSketches(): void {
    if (this.sketches) return;
    const { table } = this;
    table.startSketch();
    table.startQuantiles();
    const unique = table.hasRepeated ? null : new DigestSample(this.limits.digests, false);
    unique?.addAll(table.hashes);
    this.sketches = { unique };
  }

  /** Merges the statistics of later values. */
  merge(other: FieldStatisticsState): void {
    const { state } = this;
    state.values += other.values;
    state.numbers += other.numbers;
    state.notFinite += other.notFinite;
    this.addToSum(other.sum);
    state.lost += other.lost;
    if (other.min !== null && other.max !== null) this.addRange(other.min, other.max);
    const { minText, maxText } = other;
    if (minText && (!state.minText || compareStarts(minText, 0, minText.length, state.minText) < 0))
      state.minText = minText;
    if (maxText && (!state.maxText || compareStarts(maxText, 0, maxText.length, state.maxText) > 0))
      state.maxText = maxText;
    state.longest = longer(state.longest, other.longest);
    if (other.sketches) this.mergeSketches(other.sketches);
    this.mergeTable(other);
  }

  private mergeSketches(other: FieldSketches): void {
    this.startSketches();
    const sketches = this.sketches!;
    this.table.mergeRegisters(other.distinct);
    this.table.mergeQuantiles(other.quantiles);
    if (other.unique === null) sketches.unique = null;
    else sketches.unique?.merge(other.unique);
    if (sketches.unique?.hasFoundRepeated) sketches.unique = null;
  }

  private mergeTable({ table: other, sketches }: FieldStatisticsState): void {
    const { table } = this;
    writeEntries(this.counter, other);
    // The sketches of the other side have its values already.
    if (sketches) table.countAll(other.size);
    else {
      const first = this.countExactly(other.size);
      if (first < other.size) this.sketchEntries(first, other.size);
    }
    table.addError(other.error);
    if (table.isFull) table.purge();
  }

  /** Adds the entries of another table from `first` on, which were written to the rows. */
  private sketchEntries(first: number, size: number): void {
    const sketches = this.sketches!;
    this.table.sketch(first, size);
    this.table.addQuantileRows(first, size);
    const { counts, hashes } = this.counter.rows;
    if (sketches.unique && hasOnlyOnes(counts, first, size))
      sketches.unique.addAll(hashes.subarray(2 * first, 2 * size));
    else sketches.unique = null;
    if (sketches.unique?.hasFoundRepeated) sketches.unique = null;
  }

  /** The state of a part of the values, which will be merged, so that work may be left to that. */
  finishPart(): FieldStatisticsState {
    const { state, table, sketches } = this;
    return {
      ...state,
      table: table.state,
      sketches: sketches && {
        distinct: table.registers,
        quantiles: table.quantiles,
        unique: sketches.unique?.toState() ?? null,
      },
    };
  }

  toState(): FieldStatisticsState {
    if (this.sketches?.unique?.hasRepeated) this.sketches.unique = null;
    return this.finishPart();
  }
}

/** Writes the entries of a table as rows. */
function writeEntries(counter: ValueCounter, { size, tags, hashes, counts, ends, bytes }: CountTableState): void {
  const rows = counter.reserve(size, bytes.length);
  rows.presence.fill(Presence.value, 0, size);
  rows.tags.set(tags);
  rows.hashes.set(hashes);
  rows.counts.set(counts);
  rows.ends[0] = 0;
  rows.ends.set(ends, 1);
  rows.bytes.set(bytes);
}

function hasOnlyOnes(counts: Float64Array, from: number, to: number): boolean {
  for (let n = from; n < to; n++) if (counts[n] !== 1) return false;
  return true;
}

const longer = (a: LongestText | null, b: LongestText | null): LongestText | null =>
  a === null || (b !== null && b.bytes > a.bytes) ? b : a;
