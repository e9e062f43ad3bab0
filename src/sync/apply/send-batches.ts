/** Carries features to the map, whatever happens to single requests: each is on it once, or told to be refused. */
import type { GeoferryError } from "../../errors.js";
import { createError } from "../../errors.js";
import type { WriteOutcome } from "../../remote/client/map-client.js";
import type { ApplyRun } from "./apply-run.js";
import { BatchSender } from "./batch-sender.js";
import { type Batch, type BatchItem, forEachConcurrently } from "./batches.js";
import type { Refusal } from "./failures-file.js";
import { combinedReason, matchFailures } from "./match-failures.js";
import type { UncertainBatch, UncertainBatches } from "./uncertain-batches.js";

/**
 * Batches beyond those that are sent at once: their intents are brought to the disk meanwhile, and the client sends
 * them as soon as it may. None where nothing identifies a feature: after a crash they would be in doubt for good.
 */
const queuedBatches = 2;

/** One way of sending features. */
export interface WriteOperation {
  readonly kind: "create" | "update";
  /** Features are known again by a key or an id; else only what was sent, and when, is known. */
  readonly isIdentifiable: boolean;
  send(batch: Batch): Promise<WriteOutcome>;
  /** Where the service has no such operation. */
  createNotOfferedError(status: number): GeoferryError;
  /** So many more are on the map. */
  onApplied(features: number): void;
  /** Records the ids of features that were created; absent where they take the place of others. @throws backup-failed */
  recordIds?(ids: readonly string[]): Promise<void>;
  /** Whether the map, as it was read again, may be written to on that reading. @throws map-changed */
  checkReread?(parked: UncertainBatches): Promise<void>;
  /** The service does not take this one. */
  onRefused(item: BatchItem, refusal: Refusal): Promise<void>;
}

/** What is to be sent again of batches that were parked; what is not is settled by then. */
export type UncertainResolver = (parked: UncertainBatches, round: number, isLast: boolean) => AsyncGenerator<Batch>;

/**
 * Sends batches, several at once. Those in doubt wait until all others are through, or, where each goes out under the
 * condition of the one before, hold up those behind them; then the map itself says what became of them, and what it
 * lacks is sent again, as often as requests are tried again at all.
 * @throws map-changed, write-refused, batches-not-accepted, sync-interrupted; what the client throws
 */
export async function sendBatches(
  batches: AsyncIterable<Batch>,
  delivery: WriteOperation,
  run: ApplyRun,
  resolve: UncertainResolver = (parked, round, isLast) => resolveByReading(parked, delivery, run, round, isLast),
): Promise<void> {
  const { concurrency, retries } = run.context.traffic;
  const rest = new BatchQueue(batches, run);
  let last: UncertainBatches | null = null;
  try {
    for (let round = 0; ; round++) {
      const sender = new BatchSender(delivery, run);
      const again = last && resolve(last, round - 1, round > retries);
      try {
        const most = concurrency + (delivery.isIdentifiable ? queuedBatches : 0);
        await forEachConcurrently(resendFirst(again, rest, run), most, (batch) => sender.send(batch));
      } finally {
        await last?.[Symbol.asyncDispose]();
        last = await sender.getUncertain();
      }
      if (!last && rest.isEnded) return;
      if (sender.appliedFeatures > 0 && !rest.isEnded) round = 0;
    }
  } finally {
    await rest.close();
    await last?.[Symbol.asyncDispose]();
  }
}

/** Batches that were not sent yet. */
class BatchQueue {
  isEnded = false;
  private readonly iterator: AsyncIterator<Batch>;

  constructor(
    batches: AsyncIterable<Batch>,
    private readonly run: ApplyRun,
  ) {
    this.iterator = batches[Symbol.asyncIterator]();
  }

  /** Those until one has no clear answer, and one at least. */
  async *takeUntilUnclear(): AsyncGenerator<Batch> {
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

/** What is to be sent again goes first. @throws sync-interrupted */
async function* resendFirst(
  again: AsyncIterable<Batch> | null,
  rest: BatchQueue,
  run: ApplyRun,
): AsyncGenerator<Batch> {
  for (const batches of again ? [again, rest.takeUntilUnclear()] : [rest.takeUntilUnclear()])
    for await (const batch of batches) {
      run.throwIfAborted();
      yield batch;
    }
}

/**
 * Of what was in doubt the map is asked twice, each time after a while in which nothing was sent; of what was answered,
 * once.
 */
async function* resolveByReading(
  parked: UncertainBatches,
  delivery: WriteOperation,
  run: ApplyRun,
  round: number,
  isLast: boolean,
): AsyncGenerator<Batch> {
  const { isUnclear } = run.etagChain;
  if (parked.hasUnanswered) await run.waitSettleTime();
  const missing = await parked.rereadMap();
  if (missing > 0 && parked.hasUnanswered) {
    await run.waitSettleTime();
    await parked.rereadMap();
  }
  if (isUnclear) {
    run.etagChain.resume(parked.etag);
    if (run.etagChain.isActive) await delivery.checkReread?.(parked);
  }
  for (const one of parked) {
    delivery.onApplied(one.batch.items.length - one.missingIndexes.length);
    if (one.isUnanswered) await delivery.recordIds?.(parked.findCreatedIds(one));
    const places = one.isUnanswered ? one.missingIndexes : await reportFailures(one, delivery, isLast);
    if (places.length > 0 && isLast) {
      const { service, map } = run.header;
      throw createError("batches-not-accepted", { service, map, tries: round + 1 });
    }
    await run.acknowledge(one.entry, "settled");
    if (places.length === 0) continue;
    const isWhole = round === 0 && places.length === one.batch.items.length;
    yield {
      items: places.map((place) => one.batch.items[place]!),
      // A request that comes late after all is then the same for a service that heeds the key. Later a new one is
      // taken: some replay the failure, too.
      idempotencyKey: isWhole ? one.batch.idempotencyKey : run.createIdempotencyKey(),
    };
  }
}

/** @returns places that no failure accounts for: they are to be sent again, but for the last time */
export async function reportFailures(
  { batch, failed, missingIndexes }: UncertainBatch,
  delivery: WriteOperation,
  isLast: boolean,
): Promise<readonly number[]> {
  const known = matchFailures(
    failed,
    missingIndexes.map((index) => ({ index, id: itemId(batch, index) })),
  );
  const unaccounted: number[] = [];
  for (const place of missingIndexes) {
    const item = batch.items[place]!;
    const failure = known.get(place);
    if (failure) await delivery.onRefused(item, { code: "refused", reason: failure.message, path: failure.path });
    else if (failed.length >= missingIndexes.length)
      await delivery.onRefused(item, { code: "refused", reason: combinedReason(failed), path: null });
    else if (isLast)
      await delivery.onRefused(item, { code: "not-kept", reason: "it was taken, yet the map has it not", path: null });
    else unaccounted.push(place);
  }
  return unaccounted;
}

function itemId({ items }: Batch, place: number): string | null {
  const { action } = items[place]!;
  return "id" in action ? action.id : null;
}
