import { createKernelFactory } from "../../../src/model/kernel-factory.js";
import type { RawColumn } from "../../shared/json/raw-column.js";
import { wasm } from "../../shared/kernels/compiled/features-kernel.js";
import { RunLength } from "../../shared/kernels/run-length.js";

/** The functions of `plugins/shared/kernels/assembly/features-kernel.ts`; offsets are in `memory`. */
interface FeaturesKernel {
  readonly memory: WebAssembly.Memory;
  textAt(): number;
  runsAt(): number;
  runEndsAt(): number;
  tokensAt(): number;
  startsAt(): number;
  endsAt(): number;
  xsAt(): number;
  ysAt(): number;
  readFeatures(from: number, size: number, holes: number, coordinates: number, most: number, stop: number): number;
  passedBytes(): number;
}

/** Blocks of fewer bytes are not worth a kernel, and more do not fit into its memory. */
const [minBytes, maxBytes] = [1 << 18, 1 << 22];
const maxRunBytes = 4096;
const maxHoles = 64;
/** Rows of the arrays of the kernel. */
const maxRows = 1024;

/** A value that differs between features: of a column, or the coordinates. */
interface Hole {
  readonly column: RawColumn | null;
  readonly start: number;
  readonly end: number;
}

const createKernel = createKernelFactory<FeaturesKernel>(wasm);
/** The kernel of this thread, and whose text it holds. */
let kernel: FeaturesKernel | null = null;
let owner: FeatureRuns | null = null;

/**
 * Reads many points at once whose text differs only in values of properties and in coordinates, as most programs write
 * them. The text between those values is that of the feature before. Others are left to `FeatureParser`.
 */
export class FeatureRuns {
  /** The columns of the values, in the order of the text. */
  columns: readonly RawColumn[] = [];
  /** The offset behind the last feature. */
  end = 0;
  private runs: Buffer = Buffer.alloc(0);
  private runEnds = new Uint32Array(0);
  private coordinates = 0;
  private bytes: Buffer = Buffer.alloc(0);
  private readonly pace = new RunLength();
  /** Whether the last run ended with a feature of another text. */
  private wantsProgram = true;

  load(bytes: Buffer): void {
    this.bytes = bytes;
    if (owner === this) owner = null;
  }

  private get isUsable(): boolean {
    return this.bytes.length >= minBytes && this.bytes.length <= maxBytes;
  }

  /** Whether `learn` is of use. */
  get learns(): boolean {
    return this.wantsProgram && this.isUsable;
  }

  /**
   * Learns how features are written from one without id and unusual members, and the comma before it.
   * @param from the end of the feature before it, in the text; `to` is the end of the feature
   * @param row of the feature in the columns
   * @param position where its coordinates are
   */
  learn(
    from: number,
    to: number,
    row: number,
    columns: readonly RawColumn[],
    position: { readonly start: number; readonly end: number },
  ): void {
    this.forget();
    this.wantsProgram = false;
    const holes: Hole[] = columns
      .filter((column) => column.has(row))
      .map((column) => ({ column, start: column.startAt(row), end: column.endAt(row) }));
    holes.push({ column: null, ...position });
    holes.sort((a, b) => a.start - b.start);
    const runs = [...holes, { start: to }].map(({ start }, n) =>
      this.bytes.subarray(n === 0 ? from : holes[n - 1]!.end, start),
    );
    const size = runs.reduce((sum, run) => sum + run.length, 0);
    if (holes.length > maxHoles || size > maxRunBytes) return;
    this.runs = Buffer.concat(runs);
    this.runEnds = new Uint32Array(runs.length + 1);
    for (const [n, run] of runs.entries()) this.runEnds[n + 1] = this.runEnds[n]! + run.length;
    this.coordinates = holes.findIndex(({ column }) => column === null);
    this.columns = holes.flatMap(({ column }) => (column ? [column] : []));
    if (owner === this) owner = null;
  }

  /** Forgets how features are written. */
  forget(): void {
    this.columns = [];
    this.runEnds = new Uint32Array(0);
    this.wantsProgram = true;
  }

  /**
   * Reads features from the end of one on.
   * @param stop the offset at which, or behind which, the last one ends
   * @returns how many, at most `most`
   */
  read(at: number, most: number, stop = this.bytes.length): number {
    if (!this.isUsable || this.runEnds.length === 0) return 0;
    const wanted = Math.min(most, this.pace.next());
    if (wanted === 0) return 0;
    this.own();
    const rows = kernel!.readFeatures(at, this.bytes.length, this.columns.length + 1, this.coordinates, wanted, stop);
    if (rows > 0) this.end = kernel!.passedBytes();
    const isCut = rows < wanted && (rows === 0 || this.end < stop);
    this.pace.ended(rows, isCut);
    if (isCut) this.wantsProgram = true;
    return rows;
  }

  /** Makes the kernel hold this text. */
  private own(): void {
    kernel ??= createKernel();
    if (owner === this) return;
    owner = this;
    const { buffer } = kernel.memory;
    new Uint8Array(buffer, kernel.textAt(), this.bytes.length).set(this.bytes);
    new Uint8Array(buffer, kernel.runsAt(), this.runs.length).set(this.runs);
    new Uint32Array(buffer, kernel.runEndsAt(), this.runEnds.length).set(this.runEnds);
  }

  /** Writes the places of the values of the features that were read into their columns, from `row` on. */
  fill(row: number, rows: number): void {
    const { buffer } = kernel!.memory;
    for (const [c, column] of this.columns.entries()) {
      const at = maxRows * (c < this.coordinates ? c : c + 1);
      column.setAll(
        row,
        new Uint8Array(buffer, kernel!.tokensAt() + at, rows),
        new Uint32Array(buffer, kernel!.startsAt() + 4 * at, rows),
        new Uint32Array(buffer, kernel!.endsAt() + 4 * at, rows),
      );
    }
  }

  xs(rows: number): Float64Array {
    return new Float64Array(kernel!.memory.buffer, kernel!.xsAt(), rows);
  }

  ys(rows: number): Float64Array {
    return new Float64Array(kernel!.memory.buffer, kernel!.ysAt(), rows);
  }
}
