import type { GeometryColumn } from "../../../../src/model/geometry.js";
import type { GeometryBuilder } from "../../../../src/model/geometry-builder.js";
import { KernelColumn } from "../../kernels/kernel-column.js";
import { RunLength } from "../../kernels/run-length.js";
import type { ColumnPlan, TablePlan } from "../plan/plan.js";
import { CellMarks, type CellsKernel, suitsKernels, windowBytes } from "../records/cell-marks.js";
import { minMarkedBytes } from "../records/record-scanner.js";
import { pointByte } from "../records/signs.js";

/** Says that an empty cell of the column is left to TypeScript; `filledBit` of the kernel. */
const filledBit = 128;

/** Sizes of the kernel's arrays. */
const [maxGeometries, maxRings, maxPositions] = [1024, 16384, 16384];

/** What the kernel does with columns of the types that it reads. */
const kindsByType: Partial<Record<ColumnPlan["type"], number>> = {
  boolean: KernelColumn.boolean,
  int32: KernelColumn.int32,
  int64: KernelColumn.int64,
  double: KernelColumn.double,
  text: KernelColumn.text,
  date: KernelColumn.date,
  time: KernelColumn.time,
  datetime: KernelColumn.datetime,
};

/** Reads records of the usual form into columns, many at once; others are left to `BatchReader`. */
export class RecordColumns {
  /** The end of the last records in their block, and the number of their lines. */
  end = 0;
  lines = 0;
  /** The bytes of all columns of bytes. */
  readonly texts: Uint8Array;
  private readonly buffer: ArrayBuffer;
  private readonly valuesAt: number;
  private readonly presenceAt: number;
  private readonly textStarts: Uint32Array;
  private readonly kernelKinds: Uint8Array;
  /** Those of the last records, if they are WKT. */
  private readonly geometries: GeometryColumn | null;
  private readonly runs = new RunLength();
  /** Records for which the arrays have room. */
  private stride = 0;

  private constructor(
    private readonly marks: CellMarks,
    private readonly kinds: Uint8Array,
    /** The columns of x and y, or one of WKT; null if the table has no geometries. */
    private readonly geometry: readonly [number, number] | number | null,
  ) {
    const { kernel } = marks;
    this.buffer = kernel.memory.buffer;
    this.valuesAt = kernel.valuesAt();
    this.presenceAt = kernel.presenceAt();
    this.texts = new Uint8Array(this.buffer, kernel.textsAt(), windowBytes);
    this.textStarts = new Uint32Array(this.buffer, kernel.textStartsAt(), kinds.length);
    this.kernelKinds = new Uint8Array(this.buffer, kernel.kindsAt(), kinds.length);
    this.geometries = typeof geometry === "number" ? geometriesOf(kernel) : null;
  }

  /** Null if the table has cells in other notations, or geometries that are neither points in two columns nor WKT. */
  static for(plan: TablePlan): RecordColumns | null {
    const { columns, geometry, srid, isSridGiven, delimiter, decimal, encoding, hasTypedCells } = plan;
    if (!suitsKernels(delimiter, columns.length)) return null;
    if (encoding.isSpooled || hasTypedCells || decimal !== pointByte) return null;
    const kinds = Uint8Array.from(columns, ({ kept, type, numbers }) =>
      kept ? (numbers === null ? (kindsByType[type] ?? unreadable) : unreadable) : KernelColumn.nothing,
    );
    if (kinds.includes(unreadable)) return null;
    if (geometry.kind === "none") return new RecordColumns(CellMarks.of(delimiter), kinds, null);
    if (geometry.kind === "text") {
      // Others name an SRID, which cells that the kernel reads do not.
      return srid === null || isSridGiven ? new RecordColumns(CellMarks.of(delimiter), kinds, geometry.column) : null;
    }
    if (geometry.kind !== "xy" || geometry.z !== null) return null;
    if (geometry.numbers.decimal !== pointByte || geometry.numbers.group !== null) return null;
    for (const axis of [geometry.x, geometry.y]) {
      if (kinds[axis] !== KernelColumn.nothing && kinds[axis] !== KernelColumn.double) return null;
      kinds[axis] = KernelColumn.double | filledBit;
    }
    return new RecordColumns(CellMarks.of(delimiter), kinds, [geometry.x, geometry.y]);
  }

  /**
   * Reads records from `at` of a block on, at most `most`, up to the one with which geometries have so many positions.
   * @returns how many
   */
  read(bytes: Uint8Array, at: number, most: number, positions: number): number {
    if (bytes.length < minMarkedBytes) return 0;
    const { marks, kinds, runs } = this;
    const wanted = Math.min(most, runs.next());
    if (wanted === 0) return 0;
    const first = marks.ofRecord(bytes, at);
    if (first < 0) {
      runs.ended(0, true);
      return 0;
    }
    // Other tables use the kernel, too.
    this.kernelKinds.set(kinds);
    const column = typeof this.geometry === "number" ? this.geometry : -1;
    const rows = marks.kernel.readRecords(first, kinds.length, wanted, column, positions);
    this.stride = marks.kernel.candidates();
    runs.ended(rows, rows === 0 || rows < this.stride);
    if (rows === 0) return 0;
    this.end = marks.pass(first, rows, kinds.length);
    this.lines = marks.lines;
    return rows;
  }

  /** Adds the geometries of the records. */
  addGeometries(rows: number, builder: GeometryBuilder): void {
    const { geometry, geometries } = this;
    if (geometry === null) for (let n = 0; n < rows; n++) builder.addNull();
    else if (geometries) for (let n = 0; n < rows; n++) builder.copy(geometries, n);
    else if (typeof geometry === "object")
      builder.addPoints(this.doublesOf(geometry[0], rows), this.doublesOf(geometry[1], rows));
  }

  presenceOf(column: number, rows: number): Uint8Array {
    return new Uint8Array(this.buffer, this.presenceAt + column * this.stride, rows);
  }

  private place(column: number): number {
    return this.valuesAt + 8 * column * this.stride;
  }

  doublesOf(column: number, rows: number): Float64Array {
    return new Float64Array(this.buffer, this.place(column), rows);
  }

  int32sOf(column: number, rows: number): Int32Array {
    return new Int32Array(this.buffer, this.place(column), rows);
  }

  integersOf(column: number, rows: number): BigInt64Array {
    return new BigInt64Array(this.buffer, this.place(column), rows);
  }

  booleansOf(column: number, rows: number): Uint8Array {
    return new Uint8Array(this.buffer, this.place(column), rows);
  }

  /** Ends of the values of a column of bytes, behind a 0, from `textStart` on. */
  offsetsOf(column: number, rows: number): Uint32Array {
    return new Uint32Array(this.buffer, this.place(column), rows + 1);
  }

  textStart(column: number): number {
    return this.textStarts[column]!;
  }
}

/** The arrays of `plugins/shared/kernels/assembly/wkt-column.ts`. */
function geometriesOf(kernel: CellsKernel): GeometryColumn {
  const { buffer } = kernel.memory;
  return {
    length: maxGeometries,
    kinds: new Uint8Array(buffer, kernel.geometryKindsAt(), maxGeometries),
    partOffsets: new Uint32Array(buffer, kernel.partOffsetsAt(), maxGeometries + 1),
    ringOffsets: new Uint32Array(buffer, kernel.ringOffsetsAt(), maxRings + 1),
    positionOffsets: new Uint32Array(buffer, kernel.positionOffsetsAt(), maxRings + 1),
    xy: new Float64Array(buffer, kernel.xyAt(), 2 * maxPositions),
    z: null,
    m: null,
    boxes: null,
    members: null,
    memberOffsets: null,
  };
}

/** Not a kind of the kernel. */
const unreadable = 255;
