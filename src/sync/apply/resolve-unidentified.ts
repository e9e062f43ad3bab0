import { createError } from "../../errors.js";
import type { ApplyRun } from "./apply-run.js";
import type { WriteBatch } from "./batches.js";
import { createUnseenError, readUntilShown, reportFailures, type WriteOperation } from "./send-batches.js";
import type { UncertainBatch, UncertainBatches } from "./uncertain-batches.js";

/**
 * Settles features without a key, as in mode append, where an equal feature on the map proves nothing. A batch without
 * a response is sent again only if the service demonstrably replays Idempotency-Keys; otherwise the outcome of its
 * features stays unknown. If a response reports failures, the contents of its successful ids determine which features
 * failed.
 */
export async function* resolveUnidentified(
  uncertain: UncertainBatches,
  operation: WriteOperation,
  run: ApplyRun,
  isLast: boolean,
): AsyncGenerator<WriteBatch> {
  let replays = false;
  if (uncertain.hasUnanswered) {
    // Without keys, the map cannot show whether another writer changed it meanwhile.
    run.etagChain.disable();
    await run.waitSettleTime();
    replays = !isLast && (await supportsIdempotencyReplay(run));
  }
  if (uncertain.hasAnswered) {
    const unseen = await readUntilShown(uncertain, run, false);
    // With mode append, what the map does not show stays unknown: later runs could not find it.
    if (unseen.length > 0 && run.header.key !== null) throw createUnseenError(unseen, run);
  }
  for (const uncertainBatch of uncertain) {
    if (uncertainBatch.isUnanswered && replays) {
      yield uncertainBatch.batch;
      continue;
    }
    if (uncertainBatch.isUnanswered)
      await recordUnknownBatch(uncertainBatch, run, "the service sent no response, and the feature has no key");
    else await resolveByContents(uncertainBatch, uncertain, operation, run);
    await run.acknowledge(uncertainBatch.entry, "done");
  }
}

/**
 * Whether the service answers a second request with the same Idempotency-Key with the stored response, and marks it as
 * such (`Idempotency-Replayed`). Both requests create nothing.
 */
async function supportsIdempotencyReplay(run: ApplyRun): Promise<boolean> {
  const key = run.createIdempotencyKey();
  const first = await run.context.client.create([], key);
  if (first.kind !== "answered" || first.replayed) return false;
  const second = await run.context.client.create([], key);
  return second.kind === "answered" && second.replayed;
}

async function recordUnknownBatch({ batch }: UncertainBatch, run: ApplyRun, reason: string): Promise<void> {
  for (const { action } of batch.items) await run.recordUnknown(action, reason);
}

async function resolveByContents(
  uncertainBatch: UncertainBatch,
  uncertain: UncertainBatches,
  operation: WriteOperation,
  run: ApplyRun,
): Promise<void> {
  const created = new Map<string, number>();
  for (const { id } of uncertainBatch.success) {
    const digest = uncertain.findDigest(id);
    if (digest !== null) created.set(digest, (created.get(digest) ?? 0) + 1);
  }
  const missingIndexes = uncertainBatch.batch.items.flatMap(({ action }, index) => {
    const digest = run.digestOf(action.feature);
    const left = created.get(digest) ?? 0;
    created.set(digest, left - 1);
    return left > 0 ? [] : [index];
  });
  operation.onApplied(uncertainBatch.batch.items.length - missingIndexes.length);
  if (missingIndexes.length <= uncertainBatch.failed.length) {
    await reportFailures({ ...uncertainBatch, missingIndexes }, operation, true);
    return;
  }
  for (const index of missingIndexes)
    await run.recordUnknown(
      uncertainBatch.batch.items[index]!.action,
      "the response does not say whether this feature was created",
    );
}

/** Creates the error for a run that leaves features with an unknown outcome. */
export const outcomeUnknownError = ({ header, counts }: ApplyRun, rejects: string) =>
  createError("outcome-unknown", { service: header.service, map: header.map, features: counts.unknown, rejects });
