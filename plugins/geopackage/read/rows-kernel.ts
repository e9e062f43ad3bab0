import {
  acquireBuffer,
  type BytesType,
  type Column,
  type GeometryColumn,
  isLittleEndian,
} from "../../../src/model/index.js";
import { createKernelFactory } from "../../../src/model/kernel-factory.js";
import { wasm } from "../../shared/kernels/compiled/rows-kernel.js";
import { KernelColumn } from "../../shared/kernels/kernel-column.js";
import type { SqliteHeader } from "../sqlite/header.js";
import type { RowReader, SqliteRow } from "../sqlite/row-reader.js";
import type { ColumnPlan, LayerPlan } from "./layer-plan.js";

/** Columns with other roles are decoded in TypeScript. */
const { nothing, ...kinds } = KernelColumn;
const roleNumbers = { rowid: nothing, ...kinds };

/** Tables with more columns are decoded in TypeScript, as the memory of the kernel grows with them. */
const maxColumns = 100;

/** The functions of `assembly/rows-kernel.ts`; offsets are in `memory`. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  open(columns: number, usable: number, narrowIds: boolean): void;
  setRole(column: number, role: number): void;
  setSrs(id: number): void;
  pageOffset(): number;
  recordOffset(): number;
  recordsOffset(): number;
  startsOffset(): number;
  idsOffset(): number;
  placesOffset(): number;
  geometryOffset(): number;
  blockOffset(): number;
  rowCount(): number;
  isFull(): number;
  /** @returns the index of the row after the last one that was added */
  addPage(head: number, usable: number, first: number, hasPrevious: boolean, high: number, low: number): number;
  pageCellBytes(): number;
  isPageInOrder(): number;
  lastIdHigh(): number;
  lastIdLow(): number;
  hasRoom(size: number): number;
  addRecord(size: number, high: number, low: number): number;
  /** @returns the size of the block with the columns; 0 if a value must be decoded in TypeScript */
  finish(): number;
  reset(): void;
}

/** The columns of a batch. */
export interface DecodedRows {
  readonly length: number;
  readonly ids: Column | null;
  readonly columns: readonly Column[];
  readonly geometry: GeometryColumn;
}

const createExports = createKernelFactory<Exports>(wasm);
/** A kernel of this thread that is not used, with its memory of some megabytes. */
let idle: RowsKernel | undefined;

/** Decodes the rows of a table into the columns of a batch, as the decoders in TypeScript do, if nothing is odd in them. */
export class RowsKernel {
  private readonly exports: Exports;
  private plan!: LayerPlan;
  private usable = 0;
  private memory = new Uint8Array(0);

  private constructor() {
    this.exports = createExports();
  }

  /** Null if the rows of the table must be decoded in TypeScript. The caller releases it. */
  static acquire(plan: LayerPlan, { encoding, usable }: SqliteHeader): RowsKernel | null {
    const { columns } = plan;
    if (encoding !== "utf8" || !isLittleEndian || columns.length > maxColumns) return null;
    if (!columns.every(({ role }) => Object.hasOwn(roleNumbers, role))) return null;
    if (columns.filter(({ role }) => role === "geometry").length > 1) return null;
    const kernel = idle ?? new RowsKernel();
    idle = undefined;
    kernel.open(plan, usable);
    return kernel;
  }

  release(): void {
    idle = this;
  }

  private open(plan: LayerPlan, usable: number): void {
    const { exports } = this;
    this.plan = plan;
    this.usable = usable;
    exports.open(plan.columns.length, usable, plan.ids !== "int64");
    for (const [c, { role }] of plan.columns.entries())
      exports.setRole(c, roleNumbers[role as keyof typeof roleNumbers]);
    if (plan.srsId !== null) exports.setSrs(plan.srsId);
    this.memory = new Uint8Array(exports.memory.buffer);
  }

  /** Rows of the current batch. */
  get rows(): number {
    return this.exports.rowCount();
  }

  get isFull(): boolean {
    return this.exports.isFull() !== 0;
  }

  /** Copies the open page of a reader, for `addPage`. */
  loadPage(reader: RowReader): void {
    this.memory.set(reader.pageBytes, this.exports.pageOffset());
  }

  /**
   * Adds rows of the open page from `first` on, until the batch is full or up to a row that is damaged or has overflow
   * pages. @returns the index of the row after the last one
   */
  addPage(reader: RowReader, first: number): number {
    const { exports } = this;
    const { headerOffset, hasPrevious, row } = reader;
    const next = exports.addPage(headerOffset, this.usable, first, hasPrevious, row.high, row.low);
    if (next > first) {
      const isInOrder = exports.isPageInOrder() !== 0;
      reader.noteRead(
        next - first,
        exports.pageCellBytes(),
        isInOrder,
        exports.lastIdHigh(),
        exports.lastIdLow() >>> 0,
      );
    }
    return next;
  }

  /** Whether there is room for a record of this size. */
  hasRoom(size: number): boolean {
    return this.exports.hasRoom(size) !== 0;
  }

  /** @returns false, with nothing added, if the record is malformed */
  add({ bytes, from, to, high, low }: SqliteRow): boolean {
    this.memory.set(bytes.subarray(from, to), this.exports.recordOffset());
    return this.exports.addRecord(to - from, high, low) !== 0;
  }

  /** The columns of all rows added; null if a value must be decoded in TypeScript. */
  decode(): DecodedRows | null {
    const { exports, plan, memory } = this;
    const size = exports.finish();
    if (size === 0) return null;
    const block = acquireBuffer(size);
    const from = exports.blockOffset();
    block.set(memory.subarray(from, from + size));
    const length = this.rows;
    const { columns } = plan;
    const places = new Uint32Array(memory.buffer, exports.placesOffset(), 4 * (columns.length + 1));
    const typed = columns.flatMap(({ role }, c) =>
      role === "rowid" || role === "geometry" ? [] : [columnAt(block, places, c, role, length)],
    );
    return {
      length,
      ids: plan.ids && columnAt(block, places, columns.length, plan.ids, length),
      columns: typed,
      geometry: geometryAt(block, new Uint32Array(memory.buffer, exports.geometryOffset(), 9), length),
    };
  }

  /** The records of all rows added, each valid until the next one, for decoders in TypeScript. */
  *records(): Generator<SqliteRow> {
    const { exports, memory, rows } = this;
    const starts = new Uint32Array(memory.buffer, exports.startsOffset(), rows + 1);
    const halves = new Uint32Array(memory.buffer, exports.idsOffset(), 2 * rows);
    const bytes = Buffer.from(memory.buffer);
    const base = exports.recordsOffset();
    for (let row = 0; row < rows; row++) {
      const [from, to] = [base + starts[row]!, base + starts[row + 1]!];
      yield { bytes, from, to, low: halves[2 * row]!, high: halves[2 * row + 1]! };
    }
  }

  /** Begins the next batch. */
  reset(): void {
    this.exports.reset();
  }
}

/** Column `c`, whose arrays are views of the block. */
function columnAt(
  { buffer }: Uint8Array<ArrayBuffer>,
  places: Uint32Array,
  c: number,
  type: Exclude<ColumnPlan["role"], "rowid" | "geometry">,
  length: number,
): Column {
  const presence = new Uint8Array(buffer, places[4 * c], length);
  const values = places[4 * c + 1]!;
  switch (type) {
    case "boolean":
      return { type, presence, values: new Uint8Array(buffer, values, length) };
    case "int32":
      return { type, presence, values: new Int32Array(buffer, values, length) };
    case "int64":
      return { type, presence, values: new BigInt64Array(buffer, values, length) };
    case "double":
      return { type, presence, values: new Float64Array(buffer, values, length) };
    default: {
      const [from, to] = [places[4 * c + 2]!, places[4 * c + 3]!];
      const bytes = new Uint8Array(buffer, from, to - from);
      return { type: type satisfies BytesType, presence, offsets: new Uint32Array(buffer, values, length + 1), bytes };
    }
  }
}

function geometryAt({ buffer }: Uint8Array<ArrayBuffer>, layout: Uint32Array, length: number): GeometryColumn {
  const [kinds, partOffsets, ringOffsets, positionOffsets, xy, boxes, parts, rings, positions] = layout;
  return {
    length,
    kinds: new Uint8Array(buffer, kinds, length),
    partOffsets: new Uint32Array(buffer, partOffsets, length + 1),
    ringOffsets: new Uint32Array(buffer, ringOffsets, parts! + 1),
    positionOffsets: new Uint32Array(buffer, positionOffsets, rings! + 1),
    xy: new Float64Array(buffer, xy, 2 * positions!),
    z: null,
    m: null,
    boxes: boxes ? new Float64Array(buffer, boxes, 4 * length) : null,
    members: null,
    memberOffsets: null,
  };
}
