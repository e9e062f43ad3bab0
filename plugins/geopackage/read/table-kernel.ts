import { createKernelFactory } from "../../../src/model/kernel-factory.js";
import { wasm } from "../../shared/kernels/compiled/table-kernel.js";

/** What `addPage` returns if it is not the index of a row with overflow pages. */
export const pageDone = -1;

/** The functions of `assembly/table-kernel.ts`; offsets are in `memory`. */
export interface TableKernel {
  readonly memory: WebAssembly.Memory;
  open(columns: number, countsPoints: boolean): void;
  setMeasure(column: number, measure: number): void;
  /** Memory for a page or a record. @returns its offset */
  reserve(bytes: number): number;
  /** Adds rows of a leaf page. @returns the index of a row that `addRecord` must add, `pageDone`, or −2: decode it */
  addPage(page: number, head: number, usable: number, first: number): number;
  /** @returns 0 if the record must be decoded */
  addRecord(from: number, size: number, id: number): number;
  rowCount(): number;
  smallestId(): number;
  largestId(): number;
  kindCount(kind: number): number;
  west(): number;
  south(): number;
  east(): number;
  north(): number;
  valueCount(column: number): number;
  longestText(column: number): number;
  leastInteger(column: number): number;
  mostInteger(column: number): number;
}

export const createTableKernel = createKernelFactory<TableKernel>(wasm);
