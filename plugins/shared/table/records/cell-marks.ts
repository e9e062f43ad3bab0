import { createKernelFactory } from "../../../../src/model/kernel-factory.js";
import { wasm } from "../../kernels/compiled/cells-kernel.js";

/** The functions of `plugins/shared/kernels/assembly/cells-kernel.ts`; offsets are in `memory`. */
export interface CellsKernel {
  readonly memory: WebAssembly.Memory;
  windowAt(): number;
  marksAt(): number;
  findMarks(from: number, size: number, delimiter: number): number;
  countLines(first: number, records: number, columns: number): number;
  statesAt(): number;
  prefixAt(): number;
  setPrefix(size: number, numbers: number): void;
  passRecords(first: number, columns: number, most: number, decimal: number): number;
  kindsAt(): number;
  textStartsAt(): number;
  valuesAt(): number;
  presenceAt(): number;
  textsAt(): number;
  candidates(): number;
  readRecords(first: number, columns: number, most: number, geometry: number, positions: number): number;
  geometryKindsAt(): number;
  partOffsetsAt(): number;
  ringOffsetsAt(): number;
  positionOffsetsAt(): number;
  xyAt(): number;
}

/** What a byte ends; in the lowest bits of a mark, below the notation of the cell and the offset behind the byte. */
export const Ending = {
  cell: 0,
  /** A line feed. */
  record: 1,
  /** A carriage return alone, or a quote that does not enclose a whole cell: the last mark. */
  unclear: 2,
} as const;
export const endingMask = 3;
/** Bits of a mark, for the notation of its cell: `Notation` of `plugins/shared/kernels/assembly/cell-window.ts`. */
export const Notation = { quoted: 4, returned: 8, doubled: 16, broken: 32 } as const;
/** A mark is shifted by this to the offset behind its byte in the window. */
export const offsetShift = 6;

/** Bytes of a window, and the most cells in it. */
export const windowBytes = 1 << 16;
/** Most columns of which kernels read the cells. */
const maxKernelColumns = 1023;

/** Whether kernels read the cells of such a table. Behind a cell they expect a byte that is no digit. */
export const suitsKernels = (delimiter: number, columns: number): boolean =>
  columns >= 2 && columns <= maxKernelColumns && (delimiter < 48 || delimiter > 57);

const createKernel = createKernelFactory<CellsKernel>(wasm);

/** The bytes that end cells and records, in one window of a block after the other. */
export class CellMarks {
  readonly kernel: CellsKernel;
  private readonly window: Uint8Array;
  /** The offset behind a byte in the window, the notation of the cell that it ends, and its `Ending`. */
  readonly marks: Uint32Array;
  private count = 0;
  /** The last mark of the window that ends a record; −1 without one. */
  private lastRecord = -1;
  /** The block, the range of the window in it, and where the first marked record begins. */
  private block: Uint8Array | null = null;
  from = 0;
  private to = 0;
  private begin = 0;
  /** The unclear byte in the block, behind which there are no marks; −1 without one. */
  private unclearAt = -1;
  /** The first mark that is not before the last position asked for. */
  private next = 0;
  lines = 0;

  private constructor(private readonly delimiter: number) {
    this.kernel = createKernel();
    const { buffer } = this.kernel.memory;
    this.window = new Uint8Array(buffer, this.kernel.windowAt(), windowBytes);
    this.marks = new Uint32Array(buffer, this.kernel.marksAt(), windowBytes);
  }

  /** The marks of tables with this delimiter, which all readers of a thread share. */
  static of(delimiter: number): CellMarks {
    let found = known.get(delimiter);
    if (!found) {
      found = new CellMarks(delimiter);
      known.set(delimiter, found);
    }
    return found;
  }

  /**
   * The first mark of the record at `at` of the block, behind which, in the same window, there is one that ends a record;
   * −1 without one.
   */
  ofRecord(block: Uint8Array, at: number): number {
    if (block === this.block && at >= this.begin && at < this.to) {
      const mark = this.firstFrom(at);
      if (mark <= this.lastRecord) return mark;
      if (at === this.from || at <= this.unclearAt) return -1;
      if (this.unclearAt >= 0 && this.find(at)) return 0;
    }
    return this.load(block, at) ? 0 : -1;
  }

  /**
   * Passes over so many records of `columns` cells each, whose first mark is `first`; `lines` is then the number of their
   * lines. @returns their end in the block
   */
  pass(first: number, records: number, columns: number): number {
    this.next = first + records * columns;
    this.lines = this.kernel.countLines(first, records, columns);
    return this.from + (this.marks[this.next - 1]! >>> offsetShift);
  }

  private firstFrom(at: number): number {
    const wanted = (at - this.from + 1) << offsetShift;
    if (this.next > 0 && this.marks[this.next - 1]! >= wanted) this.next = 0;
    while (this.next < this.count && this.marks[this.next]! < wanted) this.next++;
    return this.next;
  }

  private load(block: Uint8Array, at: number): boolean {
    this.block = block;
    this.from = at;
    this.to = Math.min(block.length, at + windowBytes);
    this.window.set(block.subarray(at, this.to));
    return this.find(at);
  }

  /** Finds the marks of the window from `at` of the block on. @returns whether one ends a record */
  private find(at: number): boolean {
    this.begin = at;
    this.count = this.kernel.findMarks(at - this.from, this.to - this.from, this.delimiter);
    this.next = 0;
    const last = this.marks[this.count - 1] ?? 0;
    const isUnclear = this.count > 0 && (last & endingMask) === Ending.unclear;
    this.unclearAt = isUnclear ? this.from + (last >>> offsetShift) - 1 : -1;
    this.lastRecord = this.count - 1;
    while (this.lastRecord >= 0 && (this.marks[this.lastRecord]! & endingMask) !== Ending.record) this.lastRecord--;
    return this.lastRecord >= 0;
  }
}

const known = new Map<number, CellMarks>();
