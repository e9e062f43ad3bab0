/** Sends features reliably despite failing requests: each is on the map once, or reported as rejected. */
import { createError, type GeoferryError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import type { ApplyRun } from "./apply-run.js";
import { BatchSender } from "./batch-sender.js";
import { type BatchItem, forEachConcurrently, splitBatch, splitByFailures, type WriteBatch } from "./batches.js";
import type { Refusal } from "./failures-file.js";
import { combinedReason, matchFailures, namesFailuresOnly } from "./match-failures.js";
import { pausesBeforeReading } from "./pauses.js";
import type { UncertainBatch, UncertainBatches } from "./uncertain-batches.js";

/**
 * Batches queued beyond the concurrent ones: they are journaled in advance so that the client can send them without
 * delay. Zero for features without a key: after a crash, queued ones would stay uncertain for good.
 */
const queuedBatches = 2;

/** An operation that sends features. */
export interface WriteOperation {
  readonly kind: "create" | "update";
  /** Whether features can be identified by a key or an id; otherwise only the sent content and time are known. */
  readonly isIdentifiable: boolean;
  send(batch: WriteBatch): Promise<WriteOutcome>;
  /** Creates the error for a service without this operation. */
  createNotOfferedError(status: number): GeoferryError;
  /** Called when more features are on the map. */
  onApplied(features: number): void;
  /** Records the ids of created features; absent if they replace others. @throws backup-failed */
  recordIds?(ids: readonly string[]): Promise<void>;
  /** Checks that the run may continue to write on the basis of the reread map. @throws map-changed */
  checkReread?(uncertain: UncertainBatches): Promise<void>;
  /** Called for a feature that the service rejected. */
  onRefused(item: BatchItem, refusal: Refusal): Promise<void>;
}

/** Yields the batches to send again after settling the others. */
export type UncertainResolver = (
  uncertain: UncertainBatches,
  round: number,
  isLast: boolean,
) => AsyncGenerator<WriteBatch>;

/**
 * Sends batches concurrently. Uncertain batches wait until all others have finished or, if each write depends on the
 * tag of the previous one, pause the remaining batches. Then rereading the map settles them, and missing features are
 * sent again, up to the number of retries.
 * @throws map-changed, write-refused, batches-not-accepted, sync-interrupted; errors of the client
 */
export async function sendBatches(
  batches: AsyncIterable<WriteBatch>,
  operation: WriteOperation,
  run: ApplyRun,
  resolve: UncertainResolver = (uncertain, round, isLast) => resolveByReading(uncertain, operation, run, round, isLast),
): Promise<void> {
  const { concurrency, retries } = run.context.traffic;
  const queue = new BatchQueue(batches, run);
  let uncertainBatches: UncertainBatches | null = null;
  try {
    for (let round = 0; ; round++) {
      const sender = new BatchSender(operation, run);
      const resentBatches = uncertainBatches && resolve(uncertainBatches, round - 1, round > retries);
      try {
        const concurrentBatches = concurrency + (operation.isIdentifiable ? queuedBatches : 0);
        await forEachConcurrently(resendFirst(resentBatches, queue, run), concurrentBatches, (batch) =>
          sender.send(batch),
        );
      } finally {
        await uncertainBatches?.[Symbol.asyncDispose]();
        uncertainBatches = await sender.getUncertain();
      }
      if (!uncertainBatches && queue.isEnded) return;
      if (sender.appliedFeatures > 0 && !queue.isEnded) round = 0;
    }
  } finally {
    await queue.close();
    await uncertainBatches?.[Symbol.asyncDispose]();
  }
}

/** Batches that have not been sent. */
class BatchQueue {
  isEnded = false;
  private readonly iterator: AsyncIterator<WriteBatch>;

  constructor(
    batches: AsyncIterable<WriteBatch>,
    private readonly run: ApplyRun,
  ) {
    this.iterator = batches[Symbol.asyncIterator]();
  }

  /** Yields at least one batch, and stops after the first without a conclusive response. */
  async *takeUntilUnclear(): AsyncGenerator<WriteBatch> {
    do {
      const next = await this.iterator.next();
      this.isEnded = next.done === true;
      if (next.done) return;
      yield next.value;
    } while (!this.run.etagChain.isUnclear);
  }

  async close(): Promise<void> {
    await this.iterator.return?.();
  }
}

/** Yields batches to send again before new ones. @throws sync-interrupted */
async function* resendFirst(
  resentBatches: AsyncIterable<WriteBatch> | null,
  queue: BatchQueue,
  run: ApplyRun,
): AsyncGenerator<WriteBatch> {
  for (const batches of resentBatches ? [resentBatches, queue.takeUntilUnclear()] : [queue.takeUntilUnclear()])
    for await (const batch of batches) {
      run.throwIfAborted();
      yield batch;
    }
}

/**
 * Reads the map until it shows what the service reported as created and all that it may have applied, and at most so often
 * that it must have applied what it will.
 * @param waitsForAll false if features cannot be found on the map: then only those whose ids are known are waited for
 * @throws map-changed if another client changed it since
 * @returns ids that it does not show; then what else is missing may be there, too
 */
export async function readUntilShown(
  uncertain: UncertainBatches,
  run: ApplyRun,
  waitsForAll: boolean,
): Promise<readonly string[]> {
  const { etagChain } = run;
  // Entity tags keep a request that is sent again from being applied twice.
  const isWaiting = waitsForAll && uncertain.hasUnanswered;
  const pauses = etagChain.isUnclear ? [1, 1] : isWaiting ? pausesBeforeReading : [0, ...pausesBeforeReading];
  let unseen: readonly string[] = [];
  for (const pause of pauses) {
    await run.waitSettleTime(pause);
    const missing = await uncertain.rereadMap();
    unseen = uncertain.findUnseenIds();
    if (unseen.length > 0 && (await run.wasChangedByOthers(etagChain.etag, uncertain.etag)))
      throw run.createConflictError();
    if (unseen.length === 0 && (missing === 0 || !waitsForAll || etagChain.isLast(uncertain.etag))) break;
  }
  return unseen;
}

/** The error for features that the service reported as created, and that the map does not show. */
export function createUnseenError(unseen: readonly string[], { header }: ApplyRun): GeoferryError {
  const { service, map } = header;
  const examples = unseen.slice(0, maxNamedFeatures).map((id) => `${id} is missing`);
  const counts = { created: unseen.length, updated: 0, lost: 0 };
  return createError("writes-not-kept", { service, map, ...counts, examples, decimals: null });
}

/** Maximum features that an error lists. */
const maxNamedFeatures = 3;

/**
 * Settles batches by rereading the map: several times, each after a pause without requests, if some had no response; once
 * otherwise.
 */
async function* resolveByReading(
  uncertain: UncertainBatches,
  operation: WriteOperation,
  run: ApplyRun,
  round: number,
  isLast: boolean,
): AsyncGenerator<WriteBatch> {
  const { isUnclear } = run.etagChain;
  const unseen = await readUntilShown(uncertain, run, true);
  if (unseen.length > 0) throw createUnseenError(unseen, run);
  if (isUnclear) {
    run.etagChain.resume(uncertain.etag);
    if (run.etagChain.isActive) await operation.checkReread?.(uncertain);
  }
  for (const uncertainBatch of uncertain) {
    operation.onApplied(uncertainBatch.batch.items.length - uncertainBatch.missingIndexes.length);
    if (uncertainBatch.isUnanswered) await operation.recordIds?.(uncertain.findCreatedIds(uncertainBatch));
    if (isWhollyRejected(uncertainBatch)) {
      run.appliesWholeRequests = true;
      await run.acknowledge(uncertainBatch.entry, "settled");
      const { batch, failed } = uncertainBatch;
      yield* splitByFailures(batch, failed, run) ?? splitBatch(batch, run);
      continue;
    }
    const unresolved = uncertainBatch.isUnanswered
      ? uncertainBatch.missingIndexes
      : await reportFailures(uncertainBatch, operation, isLast);
    if (unresolved.length > 0 && isLast) throw run.createNotAcceptedError(round + 1);
    await run.acknowledge(uncertainBatch.entry, "settled");
    if (unresolved.length === 0) continue;
    const isWhole = round === 0 && unresolved.length === uncertainBatch.batch.items.length;
    yield {
      items: unresolved.map((index) => uncertainBatch.batch.items[index]!),
      // The same key protects against a delayed first request if the service supports it. Later rounds use a new key,
      // since some services also replay failures.
      idempotencyKey: isWhole ? uncertainBatch.batch.idempotencyKey : run.createIdempotencyKey(),
    };
  }
}

/** Whether the service applied nothing, because it rejected some of the features. */
const isWhollyRejected = (uncertain: UncertainBatch): boolean =>
  namesFailuresOnly(uncertain) &&
  uncertain.failed.length < uncertain.batch.items.length &&
  uncertain.missingIndexes.length === uncertain.batch.items.length;

/** @returns indexes without a matching failure, which are sent again; empty in the last round */
export async function reportFailures(
  { batch, failed, missingIndexes }: UncertainBatch,
  operation: WriteOperation,
  isLast: boolean,
): Promise<readonly number[]> {
  const known = matchFailures(
    failed,
    missingIndexes.map((index) => ({ index, id: itemId(batch, index) })),
  );
  const unaccounted: number[] = [];
  for (const index of missingIndexes) {
    const item = batch.items[index]!;
    const failure = known.get(index);
    if (failure) await operation.onRefused(item, { code: "refused", reason: failure.message, path: failure.path });
    else if (failed.length >= missingIndexes.length)
      await operation.onRefused(item, { code: "refused", reason: combinedReason(failed), path: null });
    else if (isLast)
      await operation.onRefused(item, {
        code: "not-kept",
        reason: "the service reported success, but the feature is not on the map",
        path: null,
      });
    else unaccounted.push(index);
  }
  return unaccounted;
}

function itemId({ items }: WriteBatch, index: number): string | null {
  const { action } = items[index]!;
  return "id" in action ? action.id : null;
}
