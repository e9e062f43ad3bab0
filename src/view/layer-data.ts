/** The data of a layer, wherever it is: in temporary files, or in a page. */
import type { Column } from "../model/column.js";
import type { Field } from "../model/field.js";

/** One value for each feature. Features count from 0. */
export interface FeatureArrays {
  /** Center of the box, in units of the world (see world.ts). */
  readonly x: Uint32Array;
  readonly y: Uint32Array;
  /** See `levelOf`; `noLevel` without a geometry. */
  readonly levels: Uint8Array;
  /** Numbers of `Kind`. */
  readonly kinds: Uint8Array;
}

export interface LayerData extends FeatureArrays {
  readonly name: string;
  /** Number of features. */
  readonly rows: number;
  readonly fields: readonly Field[];
  /** First row of each batch, and the number of rows at the end. */
  readonly firstRows: readonly number[];
  /** Null if the batch does not have the field. */
  column(batch: number, field: number): Column | null;
  /** Null if the features of the batch have no ids. */
  ids(batch: number): Column | null;
  /** A record of shapes as in spool/pack-shapes.ts, in which the version for a zoom is complete; null for a single position. */
  record(row: number, zoom: number): Int32Array | null;
}

/** Index of the batch with a row. */
export function batchOf({ firstRows }: Pick<LayerData, "firstRows">, row: number): number {
  let [low, high] = [0, firstRows.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (firstRows[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Lets other work of the thread continue. */
export const yieldThread = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });

/** Batches that are processed before the thread is yielded. */
const batchesPerSlice = 16;

/** Calls `visit` for each batch in order, and yields the thread between. */
export async function forEachBatch(
  { firstRows }: Pick<LayerData, "firstRows">,
  visit: (batch: number, firstRow: number, rows: number) => void,
): Promise<void> {
  for (let batch = 0; batch + 1 < firstRows.length; batch++) {
    if (batch % batchesPerSlice === batchesPerSlice - 1) await yieldThread();
    visit(batch, firstRows[batch]!, firstRows[batch + 1]! - firstRows[batch]!);
  }
}
