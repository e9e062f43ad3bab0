/**
 * The sketch for quantiles of `src/statistics/kernels` in TypeScript. Estimates quantiles in constant memory: Z. Karnin, K. Lang, E. Liberty, "Optimal Quantile Approximation in Streams",
 * FOCS 2016. A level h holds values that stand for 2^h values each. A full level is sorted, and every other value, from a
 * random one of the first two, moves up. The random numbers come from the state, so that a result can be repeated.
 */
import { Presence } from "../../../src/model/column.js";

export interface QuantileState {
  levels: Float64Array[];
  random: number;
}

/** Capacity of the highest level. */
const topCapacity = 1024;
const minCapacity = 8;
/** Capacity of the lowest level: it is sorted less often, with many values at once. */
const inputCapacity = 512;
const shrink = 2 / 3;

/** Values of one weight. */
interface Level {
  values: Float64Array;
  length: number;
  isSorted: boolean;
}

function reserve(level: Level, count: number): void {
  if (level.length + count <= level.values.length) return;
  const grown = new Float64Array(Math.max(level.length + count, 2 * level.length));
  grown.set(level.values);
  level.values = grown;
}

export class QuantileSketch {
  private levels: Level[];
  private random: number;
  private held = 0;
  private room = 0;

  constructor(state?: QuantileState) {
    this.levels = (state?.levels ?? []).map((values) => ({ values, length: values.length, isSorted: false }));
    this.random = state?.random ?? 0x2545f491;
    for (const { length } of this.levels) this.held += length;
    this.updateRoom();
  }

  private capacity(level: number): number {
    return Math.max(
      level === 0 ? inputCapacity : minCapacity,
      Math.ceil(topCapacity * shrink ** (this.levels.length - 1 - level)),
    );
  }

  private updateRoom(): void {
    this.room = 0;
    for (let level = 0; level < this.levels.length; level++) this.room += this.capacity(level);
  }

  private push(level: number, value: number): void {
    while (this.levels.length <= level) {
      this.levels.push({ values: new Float64Array(16), length: 0, isSorted: true });
      this.updateRoom();
    }
    const buffer = this.levels[level]!;
    reserve(buffer, 1);
    buffer.values[buffer.length++] = value;
    buffer.isSorted = false;
    this.held++;
  }

  /** Moves every other one of sorted values, from `first` on, to a level. */
  private moveUp(level: number, sorted: Float64Array, first: number): void {
    if (level === this.levels.length) {
      this.levels.push({ values: new Float64Array(16), length: 0, isSorted: true });
      this.updateRoom();
    }
    const buffer = this.levels[level]!;
    const count = Math.ceil((sorted.length - first) / 2);
    reserve(buffer, count);
    const { values, isSorted } = buffer;
    let own = buffer.length - 1;
    buffer.length += count;
    this.held += count;
    // Sorted values are merged from behind, others appended.
    for (let to = buffer.length - 1, from = first + 2 * (count - 1); from >= first; to--) {
      if (isSorted && own >= 0 && values[own]! > sorted[from]!) values[to] = values[own--]!;
      else {
        values[to] = sorted[from]!;
        from -= 2;
      }
    }
  }

  /** @param times occurrences of the value */
  add(value: number, times = 1): void {
    if (times === 1) this.push(0, value);
    else
      for (let left = times, level = 0; left >= 1; left = Math.floor(left / 2), level++)
        if (left % 2 === 1) this.push(level, value);
    while (this.held > this.room) this.compact();
  }

  /** Adds the finite ones of `values[from … to]` that are present. */
  addAll(values: Float64Array | Int32Array, presence: Uint8Array, from: number, to: number): void {
    for (let n = from; n < to; n++) {
      // −0 and 0 are equal.
      const value = values[n]! + 0;
      if (presence[n] !== Presence.value || !Number.isFinite(value)) continue;
      const lowest = this.levels[0];
      if (lowest && lowest.length < lowest.values.length) {
        lowest.values[lowest.length++] = value;
        lowest.isSorted = false;
        this.held++;
      } else this.push(0, value);
      while (this.held > this.room) this.compact();
    }
  }

  /** The lowest level above its capacity. */
  private compact(): void {
    let level = 0;
    while (this.levels[level]!.length <= this.capacity(level)) level++;
    const buffer = this.levels[level]!;
    const sorted = buffer.values.subarray(0, buffer.length);
    if (!buffer.isSorted) sorted.sort();
    // With an odd number, one value stays: the least.
    const kept = sorted.length % 2;
    buffer.length = kept;
    buffer.isSorted = true;
    this.held -= sorted.length - kept;
    this.moveUp(level + 1, sorted, kept + this.nextBit());
  }

  private nextBit(): number {
    let word = this.random;
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    this.random = word;
    return word & 1;
  }

  merge({ levels }: QuantileState): void {
    levels.forEach((values, level) => {
      for (const value of values) this.push(level, value);
    });
    while (this.held > this.room) this.compact();
  }

  /** The values with the number of values that each stands for. */
  weighted(): [value: number, weight: number][] {
    return this.levels.flatMap(({ values, length }, level) =>
      Array.from(values.subarray(0, length), (value): [number, number] => [value, 2 ** level]),
    );
  }

  toState(): QuantileState {
    return { levels: this.levels.map(({ values, length }) => values.slice(0, length)), random: this.random };
  }
}
