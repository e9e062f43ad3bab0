import type { Batch } from "../../src/model/index.js";
import type { ReadContext } from "../../src/plugin/index.js";

/**
 * Rejects rows of a batch whose geometry, null in the batch, cannot be read: they stay where the context keeps rows,
 * else they are left out.
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
