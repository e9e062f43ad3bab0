/** A batch in the file of its layer. */
export interface StoredBatch {
  /** Number of rows in earlier batches. */
  readonly firstRow: number;
  readonly start: number;
  readonly length: number;
}

/** Index of the batch with a row. */
export function batchIndexOf(batches: readonly Pick<StoredBatch, "firstRow">[], row: number): number {
  let [low, high] = [0, batches.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (batches[middle]!.firstRow <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}
