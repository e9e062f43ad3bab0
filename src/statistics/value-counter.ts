import { type CountKernel, createCountKernel } from "./count-kernel.js";
import type { CountTableState, FieldLimits } from "./field-state.js";
import { registerCount } from "./sketches/hyper-log-log.js";
import type { QuantileState } from "./sketches/quantiles.js";

/** Kernels of layers that are done, for the next ones: to fill new memory takes longer than to count. */
const spareKernels: CountKernel[] = [];
const maxSpareKernels = 2;
/** A kernel of more memory is not kept. */
const maxSpareBytes = 2 ** 26;

/** Rows of one column, in the memory of a kernel: value n is `bytes[ends[n] … ends[n + 1]]`. */
export interface Rows {
  readonly tags: Uint8Array;
  readonly presence: Uint8Array;
  /** Two words for each value. */
  readonly hashes: Int32Array;
  /** How often each value is counted. */
  readonly counts: Float64Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
  /** The bytes as numbers. */
  readonly numbers: Float64Array;
}

/** A sum with the part that rounding lost, and what was added to it. */
interface NumberTotals {
  readonly sum: number;
  readonly lost: number;
  /** Of the finite numbers; infinity and −infinity without any. */
  readonly least: number;
  readonly greatest: number;
  readonly finite: number;
  readonly notFinite: number;
}

/**
 * Counts the values of all fields of a layer in WebAssembly, a column at a time: first its rows are written, then they
 * are counted in the table of its field.
 */
export class ValueCounter {
  private readonly kernel = spareKernels.pop() ?? createCountKernel();
  private views: Rows | null = null;
  private rowRoom = 0;
  private byteRoom = 0;

  /** The rows; invalid after any other call. */
  get rows(): Rows {
    const { buffer } = this.kernel.memory;
    if (this.views?.bytes.buffer !== buffer) this.views = this.createViews(buffer);
    return this.views;
  }

  private createViews(buffer: ArrayBuffer): Rows {
    const { kernel, rowRoom, byteRoom } = this;
    return {
      tags: new Uint8Array(buffer, kernel.tagsOfRows(), rowRoom),
      presence: new Uint8Array(buffer, kernel.presenceOfRows(), rowRoom),
      hashes: new Int32Array(buffer, kernel.hashesOfRows(), 2 * rowRoom),
      counts: new Float64Array(buffer, kernel.countsOfRows(), rowRoom),
      ends: new Uint32Array(buffer, kernel.endsOfRows(), rowRoom + 1),
      bytes: new Uint8Array(buffer, kernel.bytesOfRows(), byteRoom),
      numbers: new Float64Array(buffer, kernel.bytesOfRows(), byteRoom >> 3),
    };
  }

  /** The rows, with room for a number of values and bytes. */
  reserve(values: number, bytes: number): Rows {
    if (values > this.rowRoom || bytes > this.byteRoom) {
      this.kernel.reserve(values, bytes);
      this.rowRoom = Math.max(this.rowRoom, values);
      this.byteRoom = Math.max(this.byteRoom, bytes);
      this.views = null;
    }
    return this.rows;
  }

  /** Rows for values of one kind, each counted once. */
  reserveTexts(tag: number, values: number, bytes: number): Rows {
    this.reserve(values, bytes);
    this.kernel.describeRows(values, tag);
    return this.rows;
  }

  /** Rows for numbers, which are written to `numbers`. */
  reserveNumbers(tag: number, values: number): Rows {
    this.reserve(values, 8 * values);
    this.kernel.describeRows(values, tag);
    this.kernel.endWords(values);
    return this.rows;
  }

  /** Hashes the values of the rows. */
  hash(values: number): void {
    this.kernel.hashRows(values);
  }

  /** The hashes of points, two words each, for a number of pairs of coordinates. */
  hashPoints(xy: Float64Array, points: number): Int32Array {
    this.reserve(points, 16 * points).numbers.set(xy.subarray(0, 2 * points));
    this.kernel.hashPoints(points);
    return this.rows.hashes;
  }

  /** The number of rows that are present. */
  countPresent(values: number): number {
    return this.kernel.countPresent(values);
  }

  /** Adds the rows, which are numbers, to a sum and the part of it that rounding lost; replaces −0 by 0. */
  addNumbers(values: number, sum: number, lost: number): NumberTotals {
    const { kernel } = this;
    kernel.sumRows(values, sum, lost);
    return {
      sum: kernel.sumOfRows(),
      lost: kernel.lostOfRows(),
      least: kernel.leastRow(),
      greatest: kernel.greatestRow(),
      finite: kernel.finiteRows(),
      notFinite: kernel.notFiniteRows(),
    };
  }

  /**
   * The rows with the first and the last text, and the first one with the most bytes, of those that were new in their table
   * when they were counted; none without texts.
   */
  extremeTexts(values: number): number[] {
    const first = this.kernel.firstText(values);
    return first < 0 ? [] : [first, this.kernel.lastText(), this.kernel.longestText()];
  }

  createTable({ distinct, keyBytes }: FieldLimits): CountTable {
    return new CountTable(this, this.kernel, this.kernel.createTable(distinct, keyBytes));
  }

  /** Frees all tables. The object must not be used afterwards. */
  release(): void {
    if (spareKernels.length === maxSpareKernels || this.kernel.memory.buffer.byteLength > maxSpareBytes) return;
    this.kernel.reset();
    spareKernels.push(this.kernel);
  }
}

/** The counts of the values of a field, and a HyperLogLog and a sketch for quantiles once the table is full. */
export class CountTable {
  constructor(
    private readonly counter: ValueCounter,
    private readonly kernel: CountKernel,
    private readonly at: number,
  ) {}

  get isFull(): boolean {
    return this.kernel.isFull(this.at) !== 0;
  }

  /** Whether a value of the table occurred more than once. */
  get hasRepeated(): boolean {
    return this.kernel.hasRepeated(this.at) !== 0;
  }

  /** The hashes of its values, two words each; invalid after any other call. */
  get hashes(): Int32Array {
    const { kernel, at } = this;
    return new Int32Array(kernel.memory.buffer, kernel.hashesOf(at), 2 * kernel.sizeOf(at));
  }

  /** Counts the rows until the table is full. @returns the row behind the last one that was counted */
  count(values: number): number {
    return this.kernel.countRows(this.at, 0, values);
  }

  /** Counts the rows, however full the table is. */
  countAll(values: number): void {
    this.kernel.addRows(this.at, values);
  }

  /** Passes the values of the table to the HyperLogLog, which gets all values from now on. */
  startSketch(): void {
    this.kernel.startSketch(this.at);
  }

  /** Adds the rows from `first` on to the HyperLogLog, and counts them. */
  sketch(first: number, values: number): void {
    this.kernel.sketchRows(this.at, first, values);
  }

  /** Adds the registers of another HyperLogLog. */
  mergeRegisters(registers: Uint8Array): void {
    this.counter.reserve(0, registers.length).bytes.set(registers);
    this.kernel.mergeRegisters(this.at);
  }

  /** Starts the sketch for quantiles, with the numbers of the table. */
  startQuantiles(): void {
    this.kernel.startQuantiles(this.at);
  }

  /** Adds the finite ones of the rows from `first` on, which are numbers, to the quantiles. */
  addQuantiles(first: number, values: number): void {
    this.kernel.addQuantiles(this.at, first, values);
  }

  /** Adds those of the rows from `first` on that are finite numbers to the quantiles, as often as they are counted. */
  addQuantileRows(first: number, values: number): void {
    this.kernel.addQuantileRows(this.at, first, values);
  }

  /** Adds the numbers of another sketch. */
  mergeQuantiles({ levels }: QuantileState): void {
    levels.forEach((numbers, level) => {
      this.counter.reserve(0, 8 * numbers.length).numbers.set(numbers);
      this.kernel.mergeQuantiles(this.at, level, numbers.length);
    });
    this.kernel.compactQuantiles(this.at);
  }

  get quantiles(): QuantileState {
    const { kernel, at } = this;
    const { buffer } = kernel.memory;
    const levels = Array.from({ length: kernel.quantileLevels(at) }, (_, level) =>
      new Float64Array(buffer, kernel.quantilesOf(at, level), kernel.quantileCount(at, level)).slice(),
    );
    return { levels };
  }

  addError(error: number): void {
    this.kernel.addError(this.at, error);
  }

  /** Reduces all counts by the median, and drops the values whose count is used up. */
  purge(): void {
    this.kernel.purge(this.at);
  }

  get registers(): Uint8Array {
    const { kernel, at } = this;
    return new Uint8Array(kernel.memory.buffer, kernel.registersOf(at), registerCount).slice();
  }

  get state(): CountTableState {
    const { kernel, at } = this;
    const { buffer } = kernel.memory;
    const size = kernel.sizeOf(at);
    const ends = new Uint32Array(buffer, kernel.endsOf(at), size + 1);
    return {
      size,
      tags: new Uint8Array(buffer, kernel.tagsOf(at), size).slice(),
      hashes: new Int32Array(buffer, kernel.hashesOf(at), 2 * size).slice(),
      counts: new Float64Array(buffer, kernel.countsOf(at), size).slice(),
      ends: ends.slice(1),
      bytes: new Uint8Array(buffer, kernel.bytesOf(at), ends[size]).slice(),
      error: kernel.errorOf(at),
    };
  }
}
