import { createError } from "../../errors.js";
import { canonicalFeature, digestText } from "../../remote/snapshot/canonical-feature.js";
import type { ApplyRun } from "./apply-run.js";
import type { Batch } from "./batches.js";
import { reportFailures, type WriteOperation } from "./send-batches.js";
import type { UncertainBatch, UncertainBatches } from "./uncertain-batches.js";

/**
 * Settles features that nothing identifies, as in mode append: that the map has one like it proves nothing. A batch
 * without an answer is sent again only to a service that was seen to replay Idempotency-Keys; else its features stay
 * unknown. Where the answer tells of failures, the ids it names for the rest tell by their contents which those are.
 */
export async function* resolveUnidentified(
  parked: UncertainBatches,
  delivery: WriteOperation,
  run: ApplyRun,
  isLast: boolean,
): AsyncGenerator<Batch> {
  let replays = false;
  if (parked.hasUnanswered) {
    // Nothing on the map would tell whether another writer has been there meanwhile.
    run.etagChain.disable();
    await run.waitSettleTime();
    replays = !isLast && (await supportsIdempotencyReplay(run));
  }
  if (parked.hasAnswered) await parked.rereadMap();
  for (const one of parked) {
    if (one.isUnanswered && replays) {
      yield one.batch;
      continue;
    }
    if (one.isUnanswered) await recordUnknownBatch(one, run, "the service gave no answer, and nothing identifies it");
    else await resolveByContents(one, parked, delivery, run);
    await run.acknowledge(one.entry, "done");
  }
}

/**
 * Whether the service answers a second request with the same Idempotency-Key with the answer to the first, and says so
 * (`Idempotency-Replayed`). Both requests create nothing.
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
  one: UncertainBatch,
  parked: UncertainBatches,
  delivery: WriteOperation,
  run: ApplyRun,
): Promise<void> {
  const created = new Map<string, number>();
  for (const { id } of one.success) {
    const digest = parked.findDigest(id);
    if (digest !== null) created.set(digest, (created.get(digest) ?? 0) + 1);
  }
  const missingIndexes = one.batch.items.flatMap(({ action }, place) => {
    const digest = digestText(canonicalFeature(action.feature, run.rounding));
    const left = created.get(digest) ?? 0;
    created.set(digest, left - 1);
    return left > 0 ? [] : [place];
  });
  delivery.onApplied(one.batch.items.length - missingIndexes.length);
  if (missingIndexes.length <= one.failed.length) {
    await reportFailures({ ...one, missingIndexes }, delivery, true);
    return;
  }
  for (const place of missingIndexes)
    await run.recordUnknown(one.batch.items[place]!.action, "the service does not say clearly whether it took it");
}

/** What a run ends with that leaves features unknown. */
export const outcomeUnknownError = ({ header, counts }: ApplyRun, rejects: string) =>
  createError("outcome-unknown", { service: header.service, map: header.map, features: counts.unknown, rejects });
