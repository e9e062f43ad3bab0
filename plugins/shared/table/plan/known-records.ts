import { RunLength } from "../../kernels/run-length.js";
import type { GeometryPrefix } from "../geometry/geometry-scan.js";
import { CellMarks, type CellsKernel } from "../records/cell-marks.js";
import type { RecordPasser } from "../records/record-blocks.js";
import { minMarkedBytes } from "../records/record-scanner.js";

/** What the kernel looks at; the bits of `Look` in `plugins/shared/kernels/assembly/record-survey.ts`. */
const Look = { size: 1, flag: 2, filled: 4, emptyText: 8, unquoted: 16, geometry: 32 } as const;
/** Members of `ColumnState` there. */
const stateWords = 4;

/** A scan whose columns records tell something of. */
export interface ColumnScan {
  readonly columnCount: number;
  /** The byte of the decimal sign. */
  readonly decimal: number;
  /** Whether records that tell nothing new can be passed over now; then describes the columns. */
  describeColumns(states: ColumnStates): boolean;
  /** Counts records that were passed over. */
  pass(records: number, states: ColumnStates): void;
}

/** What is known of the columns of a table, in the memory of the kernel. */
export class ColumnStates {
  private readonly words: Uint32Array;
  private readonly kernel: CellsKernel;

  constructor({ kernel }: CellMarks, columns: number) {
    this.kernel = kernel;
    this.words = new Uint32Array(kernel.memory.buffer, kernel.statesAt(), stateWords * columns);
  }

  /** Cells of the columns tell nothing, unless `set` is called. */
  clear(columns: number): void {
    this.words.fill(0, 0, stateWords * columns);
  }

  /** @param flags that are known; null for a column of which only the sizes matter. @param maxSize in bytes */
  set(column: number, flags: number | null, maxSize: number): void {
    const at = stateWords * column;
    this.words[at] = flags === null ? Look.size : Look.size | Look.flag;
    this.words[at + 1] = flags ?? 0;
    this.words[at + 2] = maxSize;
  }

  /** Leaves records to TypeScript in which the column is empty. */
  requireValues(column: number): void {
    const at = stateWords * column;
    if (this.words[at] === 0) this.words[at + 2] = 0xffffffff;
    this.words[at]! |= Look.filled;
  }

  /** Leaves records to TypeScript in which the column is two quotes with nothing between them. */
  refuseEmptyText(column: number): void {
    this.words[stateWords * column]! |= Look.emptyText;
  }

  /** Leaves records to TypeScript in which the column has a value without quotes. */
  refuseUnquoted(column: number): void {
    this.words[stateWords * column]! |= Look.unquoted;
  }

  /** Leaves records to TypeScript in which the column does not begin like a geometry. */
  requireGeometry(column: number, { text, numbers }: GeometryPrefix): void {
    this.words[stateWords * column]! |= Look.geometry;
    new Uint8Array(this.kernel.memory.buffer, this.kernel.prefixAt(), text.length).set(text);
    this.kernel.setPrefix(text.length, numbers);
  }

  /** Cells of the column that are not empty, in the records that were passed over. */
  valuesOf(column: number): number {
    return this.words[stateWords * column + 3]!;
  }
}

/** Passes over records that tell a scan nothing new: most of them. */
export class KnownRecords implements RecordPasser {
  end = 0;
  lines = 0;
  private readonly marks: CellMarks;
  private readonly states: ColumnStates;
  private readonly runs = new RunLength();

  constructor(
    delimiter: number,
    private readonly scan: ColumnScan,
  ) {
    this.marks = CellMarks.of(delimiter);
    this.states = new ColumnStates(this.marks, scan.columnCount);
  }

  pass(bytes: Uint8Array, at: number): boolean {
    if (bytes.length < minMarkedBytes) return false;
    const { marks, scan, states, runs } = this;
    const most = runs.next();
    if (most === 0 || !scan.describeColumns(states)) return false;
    const first = marks.ofRecord(bytes, at);
    if (first < 0) {
      runs.ended(0, true);
      return false;
    }
    const { columnCount, decimal } = scan;
    const records = marks.kernel.passRecords(first, columnCount, most, decimal);
    const stopped = records === 0 || records < marks.kernel.candidates();
    runs.ended(records, stopped);
    if (records === 0) return false;
    this.end = marks.pass(first, records, columnCount);
    this.lines = marks.lines;
    scan.pass(records, states);
    return true;
  }
}
