import { type CountKernel, createCountKernel } from "./count-kernel.js";
import type { CountTableState, FieldLimits } from "./field-state.js";
import { registerCount } from "./sketches/hyper-log-log.js";

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
    const { numbers } = this.reserve(points, 16 * points);
    // −0 and 0 are equal.
    for (let k = 0; k < 2 * points; k++) numbers[k] = xy[k]! + 0;
    this.kernel.hashPoints(points);
    return this.rows.hashes;
  }

  /** The rows with the first and the last text, and the first one with the most bytes; none without texts. */
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

/** The counts of the values of a field, and a HyperLogLog once the table is full. */
export class CountTable {
  constructor(
    private readonly counter: ValueCounter,
    private readonly kernel: CountKernel,
    private readonly at: number,
  ) {}

  get isFull(): boolean {
    return this.kernel.isFull(this.at) !== 0;
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
