import type { Batch } from "../model/batch.js";

/** The rows that are marked with anything but 0; the batch itself where all are. */
export function keepRows(batch: Batch, keep: Uint8Array): Batch {
  let count = 0;
  for (let row = 0; row < batch.length; row++) if (keep[row] !== 0) count++;
  if (count === batch.length) return batch;
  const rows = new Uint32Array(count);
  let at = 0;
  for (let row = 0; row < batch.length; row++) if (keep[row] !== 0) rows[at++] = row;
  return batch.take(rows);
}
