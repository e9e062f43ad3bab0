import type { Batch } from "../model/batch.js";
import { withoutGeometries } from "../model/geometry-builder.js";
import type { StageContext } from "./stage.js";

/** Why the geometry of a row cannot be written. */
export interface GeometryFault {
  readonly code: string;
  readonly reason: string;
}

/**
 * Rejects the geometries of these rows: the rows are kept with null geometries, or removed if the context requires it.
 * @param shown the features as in the rejects
 */
export function rejectGeometries(
  batch: Batch,
  faults: ReadonlyMap<number, GeometryFault>,
  context: StageContext,
  shown: Batch = batch,
): Batch {
  if (faults.size === 0) return batch;
  const kept = context.keepsBadGeometries ? { kept: true } : {};
  for (const [row, { code, reason }] of [...faults].sort(([a], [b]) => a - b)) {
    context.reject({ code, reason, place: { record: batch.recordAt(row) }, feature: shown.featureAt(row), ...kept });
  }
  const rows = new Set(faults.keys());
  return context.keepsBadGeometries
    ? batch.with({ geometry: withoutGeometries(batch.geometry, rows) })
    : batch.withoutRows([...rows].sort((a, b) => a - b));
}

/** Keeps the rows that are not marked with 0; returns the batch itself if these are all. */
export function keepRows(batch: Batch, keep: Uint8Array): Batch {
  let count = 0;
  for (let row = 0; row < batch.length; row++) if (keep[row] !== 0) count++;
  if (count === batch.length) return batch;
  const rows = new Uint32Array(count);
  let at = 0;
  for (let row = 0; row < batch.length; row++) if (keep[row] !== 0) rows[at++] = row;
  return batch.take(rows);
}
