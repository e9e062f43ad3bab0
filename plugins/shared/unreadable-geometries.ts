import type { Batch } from "../../src/model/index.js";
import type { ReadContext } from "../../src/plugin/index.js";

/**
 * Rejects rows of a batch with an unreadable geometry, which is null in the batch. The rows stay if the context keeps bad
 * geometries, else they are removed.
 */
export function rejectUnreadableGeometries(
  batch: Batch,
  unreadable: readonly (readonly [row: number, reason: string])[],
  context: Pick<ReadContext, "keepsBadGeometries" | "reject">,
): Batch {
  const kept = context.keepsBadGeometries ? { kept: true } : {};
  for (const [row, reason] of unreadable) {
    const place = { record: batch.recordAt(row) };
    context.reject({ code: "geometry-malformed", reason, place, feature: batch.featureAt(row), ...kept });
  }
  return context.keepsBadGeometries ? batch : batch.withoutRows(unreadable.map(([row]) => row));
}
