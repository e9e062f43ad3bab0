/** A topology is in memory as a whole: its arcs are shared by features anywhere in it. */
import { getHeapStatistics } from "node:v8";

/** The largest file that is read at once. */
const maxDocumentBytes = 2 ** 31 - 1;
/** Memory for a parsed document, as a multiple of its size. */
const memoryPerByte = 10;
/** Memory in bytes for a position while a topology is made. */
const memoryPerPosition = 300;

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
/** The part of the heap that a topology can have, beside the program itself. */
const usableHeap = (): number => getHeapStatistics().heap_size_limit * 0.8;

/** Why a document of this size cannot be read; null if it can. */
export function refuseDocument(bytes: number): string | null {
  if (bytes > maxDocumentBytes)
    return `a topology is read as a whole, at most ${mebibytes(maxDocumentBytes)} MiB; convert it with --from gdal:TopoJSON instead`;
  const needed = bytes * memoryPerByte;
  if (needed <= usableHeap()) return null;
  return `a topology is read as a whole, which for ${mebibytes(bytes)} MiB needs more memory than Node.js may use; set NODE_OPTIONS=--max-old-space-size=${mebibytes(needed / 0.75)}`;
}

/** Why a topology with so many positions cannot be written; null if it can. */
export function refusePositions(count: number): string | null {
  const needed = count * memoryPerPosition;
  if (needed <= usableHeap()) return null;
  return `the features share arcs, so that all are in memory at once, and ${count} positions need more than Node.js may use; set NODE_OPTIONS=--max-old-space-size to more than ${mebibytes(needed / 0.8)}, or write another format`;
}
