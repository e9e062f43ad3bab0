import {
  type BytesColumn,
  type Column,
  type DoubleColumn,
  type Int32Column,
  isBytesColumn,
  Presence,
} from "../model/column.js";
import {
  type FieldLimits,
  type FieldStatisticsState,
  type LongestText,
  maxSketchedKeyBytes,
  maxStartBytes,
} from "./field-state.js";
import { hashed, hashValues } from "./hash.js";
import { CountTable } from "./sketches/count-table.js";
import { DigestSample } from "./sketches/digest-sample.js";
import { HyperLogLog } from "./sketches/hyper-log-log.js";
import { QuantileSketch } from "./sketches/quantile-sketch.js";
import { Tag, ValueReader, valueOfBytes } from "./value-reader.js";

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

/** Rows with the first and the last text in the order of `compareStarts`, and the first one of the most bytes. */
function extremeTexts(
  { bytes, offsets, presence }: Pick<BytesColumn, "bytes" | "offsets" | "presence">,
  length: number,
): number[] {
  const compare = (row: number, other: number): number => {
    const [from, start] = [offsets[row]!, offsets[other]!];
    const size = Math.min(maxStartBytes, offsets[row + 1]! - from);
    const otherSize = Math.min(maxStartBytes, offsets[other + 1]! - start);
    for (let k = 0; k < size && k < otherSize; k++) {
      const difference = bytes[from + k]! - bytes[start + k]!;
      if (difference !== 0) return difference;
    }
    return size - otherSize;
  };
  let [least, greatest, longest, most] = [-1, -1, -1, -1];
  for (let row = 0; row < length; row++) {
    if (presence[row] !== Presence.value) continue;
    if (least < 0 || compare(row, least) < 0) least = row;
    if (greatest < 0 || compare(row, greatest) > 0) greatest = row;
    const size = offsets[row + 1]! - offsets[row]!;
    if (size > most) [longest, most] = [row, size];
  }
  return least < 0 ? [] : [least, greatest, longest];
}

function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  // Continuation bytes of UTF-8 begin with the bits 10.
  for (let at = from; at < to; at++) if ((bytes[at]! & 0xc0) !== 0x80) count++;
  return count;
}

/** The sketches that take over when there are too many distinct values. */
interface Sketches {
  readonly distinct: HyperLogLog;
  readonly quantiles: QuantileSketch;
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

/** Values of a column; value n is `bytes[ends[n] … ends[n + 1]]`. */
interface HashedValues {
  readonly tag: number;
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly presence: Uint8Array;
  readonly length: number;
}

/** Arrays for the values of one column at a time. */
class Scratch {
  /** Numbers, and their bytes. */
  numbers = new Float64Array();
  numberBytes = new Uint8Array();
  numberEnds = new Uint32Array();
  /** Two words for each value. */
  hashes = new Int32Array();

  reserve(length: number): void {
    if (this.numbers.length >= length) return;
    const room = Math.max(1024, 2 * length);
    this.numbers = new Float64Array(room);
    this.numberBytes = new Uint8Array(this.numbers.buffer);
    this.numberEnds = Uint32Array.from({ length: room + 1 }, (_, n) => 8 * n);
    this.hashes = new Int32Array(2 * room);
  }
}

const scratch = new Scratch();

/** Tables of parts that are done, for the next ones: to fill new memory takes longer than to count. */
const spareTables: CountTable[] = [];
const maxSpareTables = 32;

/** Collects the statistics of the values of a field, and merges those of later ones. */
export class FieldStatistics {
  private readonly state = emptyState();
  private table = spareTables.pop() ?? new CountTable();
  private sketches: Sketches | null = null;

  constructor(private readonly limits: FieldLimits) {}

  add(column: Column, length: number): void {
    if (column.type === "double" || column.type === "int32") this.addNumbers(column, length);
    else if (isBytesColumn(column) && column.type !== "json") this.addTexts(column, length);
    else this.addValues(column, length);
  }

  private addNumbers({ values, presence }: DoubleColumn | Int32Column, length: number): void {
    scratch.reserve(length);
    const { numbers, numberBytes, numberEnds, hashes } = scratch;
    // −0 and 0 are equal.
    for (let row = 0; row < length; row++) numbers[row] = values[row]! + 0;
    for (let row = 0; row < length; row++) if (presence[row] === Presence.value) this.addNumber(numbers[row]!);
    hashValues(numberBytes, numberEnds, length, Tag.number, hashes);
    this.countAll({ tag: Tag.number, bytes: numberBytes, ends: numberEnds, presence, length });
  }

  private addTexts({ type, bytes, offsets, presence }: BytesColumn, length: number): void {
    scratch.reserve(length);
    if (type !== "binary") {
      const rows = extremeTexts({ bytes, offsets, presence }, length);
      for (const row of rows) this.addText(bytes, offsets[row]!, offsets[row + 1]!);
    }
    hashValues(bytes, offsets, length, null, scratch.hashes);
    this.countAll({ tag: type === "binary" ? Tag.binary : Tag.text, bytes, ends: offsets, presence, length });
  }

  /** Counts values of one kind, of which `scratch` has the hashes. */
  private countAll(values: HashedValues): void {
    const { tag, bytes, ends, presence, length } = values;
    const { hashes } = scratch;
    let row = 0;
    for (; row < length; row++) {
      if (presence[row] !== Presence.value) continue;
      if (this.sketches) break;
      this.state.values++;
      this.count(tag, bytes, ends[row]!, ends[row + 1]!, hashes[2 * row]!, hashes[2 * row + 1]!, 1);
    }
    if (row < length) this.sketchAll(values, row);
  }

  /** Counts the values from row `first` on, sketch by sketch, in loops without objects. */
  private sketchAll({ tag, bytes, ends, presence, length }: HashedValues, first: number): void {
    const { sketches, table, limits } = this;
    const { distinct, quantiles, unique } = sketches!;
    const { hashes, numbers } = scratch;
    let count = 0;
    for (let row = first; row < length; row++) {
      if (presence[row] !== Presence.value) continue;
      count++;
      distinct.add(hashes[2 * row]!, hashes[2 * row + 1]!);
    }
    this.state.values += count;
    if (unique) {
      for (let row = first; row < length; row++)
        if (presence[row] === Presence.value) unique.add(hashes[2 * row]!, hashes[2 * row + 1]!);
      if (unique.hasFoundRepeated) sketches!.unique = null;
    }
    if (tag === Tag.number) quantiles.addAll(numbers, presence, first, length);
    for (let row = first; row < length; row++) {
      if (presence[row] !== Presence.value) continue;
      const [from, to] = [ends[row]!, ends[row + 1]!];
      if (to - from > maxSketchedKeyBytes) continue;
      table.add(tag, bytes, from, to, hashes[2 * row]!, hashes[2 * row + 1]!, 1);
      if (table.size > limits.distinct || table.byteLength > limits.keyBytes) table.purge(maxSketchedKeyBytes);
    }
  }

  /** Values of other columns, one by one. */
  private addValues(column: Column, length: number): void {
    const { presence } = column;
    const isText = column.type === "json";
    for (let row = 0; row < length; row++) {
      if (presence[row] !== Presence.value) continue;
      reader.read(column, row);
      const { tag, bytes, from, to } = reader;
      this.state.values++;
      if (tag === Tag.number || tag === Tag.integer) this.addNumber(reader.number);
      else if (isText) this.addText(bytes, from, to);
      this.count(tag, bytes, from, to, hashed.low, hashed.high, 1);
    }
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
    if (state.min === null || value < state.min) state.min = value;
    if (state.max === null || value > state.max) state.max = value;
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

  /** Counts a value by its bytes and hash. */
  private count(
    tag: number,
    bytes: Uint8Array,
    from: number,
    to: number,
    low: number,
    high: number,
    times: number,
  ): void {
    if (this.sketches) {
      this.sketch(tag, bytes, from, to, low, high, times);
      if (to - from > maxSketchedKeyBytes) return;
    }
    this.table.add(tag, bytes, from, to, low, high, times);
    const { distinct, keyBytes } = this.limits;
    if (this.table.size <= distinct && this.table.byteLength <= keyBytes) return;
    if (!this.sketches) this.startSketches();
    this.table.purge(maxSketchedKeyBytes);
  }

  private sketch(
    tag: number,
    bytes: Uint8Array,
    from: number,
    to: number,
    low: number,
    high: number,
    times: number,
  ): void {
    const sketches = this.sketches!;
    sketches.distinct.add(low, high);
    if (sketches.unique) {
      sketches.unique.add(low, high, times);
      if (sketches.unique.hasFoundRepeated) sketches.unique = null;
    }
    if (tag !== Tag.number && tag !== Tag.integer) return;
    const number = Number(valueOfBytes(tag, bytes, from, to));
    if (Number.isFinite(number)) sketches.quantiles.add(number, times);
  }

  /** Passes the values of the table to sketches. */
  private startSketches(): void {
    if (this.sketches) return;
    const { table, limits } = this;
    const unique = table.hasOnlyOnes ? new DigestSample(limits.digests, false) : null;
    this.sketches = { distinct: new HyperLogLog(), quantiles: new QuantileSketch(), unique };
    const { tags, bytes, ends, hashes, counts } = table.state;
    const numbers = table.numbers(Tag.number);
    for (let k = 0; k < table.size; k++) {
      const [low, high, times] = [hashes[2 * k]!, hashes[2 * k + 1]!, counts[k]!];
      if (!numbers) this.sketch(tags[k]!, bytes, table.startOf(k), ends[k]!, low, high, times);
      else {
        this.sketches.distinct.add(low, high);
        this.sketches.unique?.add(low, high, times);
        if (Number.isFinite(numbers[k])) this.sketches.quantiles.add(numbers[k]!, times);
      }
    }
  }

  /** Merges the statistics of later values. */
  merge(other: FieldStatisticsState): void {
    const { state } = this;
    state.values += other.values;
    state.numbers += other.numbers;
    state.notFinite += other.notFinite;
    this.addToSum(other.sum);
    state.lost += other.lost;
    if (other.min !== null && (state.min === null || other.min < state.min)) state.min = other.min;
    if (other.max !== null && (state.max === null || other.max > state.max)) state.max = other.max;
    const { minText, maxText } = other;
    if (minText && (!state.minText || compareStarts(minText, 0, minText.length, state.minText) < 0))
      state.minText = minText;
    if (maxText && (!state.maxText || compareStarts(maxText, 0, maxText.length, state.maxText) > 0))
      state.maxText = maxText;
    state.longest = longer(state.longest, other.longest);
    if (other.sketches) this.mergeSketches(other.sketches);
    this.mergeTable(other);
  }

  private mergeSketches(other: NonNullable<FieldStatisticsState["sketches"]>): void {
    this.startSketches();
    const sketches = this.sketches!;
    sketches.distinct.merge(other.distinct);
    sketches.quantiles.merge(other.quantiles);
    if (other.unique === null) sketches.unique = null;
    else sketches.unique?.merge(other.unique);
    if (sketches.unique?.hasFoundRepeated) sketches.unique = null;
  }

  private mergeTable({
    table: { size, tags, hashes, counts, ends, bytes, error },
    sketches,
  }: FieldStatisticsState): void {
    const { distinct, keyBytes } = this.limits;
    for (let k = 0; k < size; k++) {
      const from = k === 0 ? 0 : ends[k - 1]!;
      const [to, low, high] = [ends[k]!, hashes[2 * k]!, hashes[2 * k + 1]!];
      // The sketches of the other side have its values already.
      if (!sketches) this.count(tags[k]!, bytes, from, to, low, high, counts[k]!);
      else this.table.add(tags[k]!, bytes, from, to, low, high, counts[k]!);
    }
    this.table.state.error += error;
    if (this.table.size > distinct || this.table.byteLength > keyBytes) this.table.purge(maxSketchedKeyBytes);
  }

  /**
   * The state of a part of the values, which will be merged, so that work may be left to that. The object must not be used
   * afterwards.
   */
  finishPart(): FieldStatisticsState {
    const state = this.copyState();
    if (spareTables.length < maxSpareTables) {
      this.table.clear();
      spareTables.push(this.table);
      this.table = new CountTable();
    }
    return state;
  }

  toState(): FieldStatisticsState {
    if (this.sketches?.unique?.hasRepeated) this.sketches.unique = null;
    return this.copyState();
  }

  private copyState(): FieldStatisticsState {
    const { state, table, sketches } = this;
    return {
      ...state,
      table: table.toState(),
      sketches: sketches && {
        distinct: sketches.distinct.state,
        quantiles: sketches.quantiles.toState(),
        unique: sketches.unique?.toState() ?? null,
      },
    };
  }
}

const longer = (a: LongestText | null, b: LongestText | null): LongestText | null =>
  a === null || (b !== null && b.bytes > a.bytes) ? b : a;
