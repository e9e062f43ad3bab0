import { createKernelFactory } from "../model/kernel-factory.js";
import { wasm } from "./kernels/compiled/count-kernel.js";

/** The functions of `kernels/assembly/count-kernel.ts`; tables and arrays are offsets in `memory`. */
export interface CountKernel {
  readonly memory: WebAssembly.Memory;
  reset(): void;
  reserve(rows: number, bytes: number): void;
  tagsOfRows(): number;
  presenceOfRows(): number;
  hashesOfRows(): number;
  countsOfRows(): number;
  endsOfRows(): number;
  bytesOfRows(): number;
  describeRows(rows: number, tag: number): void;
  endWords(rows: number): void;
  hashRows(rows: number): void;
  hashPoints(rows: number): void;
  countPresent(rows: number): number;
  sumRows(rows: number, sum: number, lost: number): void;
  sumOfRows(): number;
  lostOfRows(): number;
  leastRow(): number;
  greatestRow(): number;
  finiteRows(): number;
  notFiniteRows(): number;
  firstText(rows: number): number;
  lastText(): number;
  longestText(): number;
  createTable(maxSize: number, maxBytes: number): number;
  sizeOf(table: number): number;
  errorOf(table: number): number;
  addError(table: number, error: number): void;
  tagsOf(table: number): number;
  hashesOf(table: number): number;
  countsOf(table: number): number;
  endsOf(table: number): number;
  bytesOf(table: number): number;
  registersOf(table: number): number;
  hasRepeated(table: number): number;
  isFull(table: number): number;
  countRows(table: number, first: number, rows: number): number;
  addRows(table: number, rows: number): void;
  startSketch(table: number): void;
  sketchRows(table: number, first: number, rows: number): void;
  mergeRegisters(table: number): void;
  startQuantiles(table: number): void;
  addQuantiles(table: number, first: number, rows: number): void;
  addQuantileRows(table: number, first: number, rows: number): void;
  mergeQuantiles(table: number, level: number, rows: number): void;
  compactQuantiles(table: number): void;
  quantileLevels(table: number): number;
  quantilesOf(table: number, level: number): number;
  quantileCount(table: number, level: number): number;
  purge(table: number): void;
}

const createExports = createKernelFactory<CountKernel>(wasm);

export function createCountKernel(): CountKernel {
  const kernel = createExports();
  kernel.reset();
  return kernel;
}
