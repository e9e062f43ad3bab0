import pLimit from "p-limit";
import { splitIntoBatches } from "../../remote/client/split-into-batches.js";
import { maxFeaturesPerRequest, type RemoteKey, type WireFailure } from "../../remote/wire.js";
import type { ApplyRun, WriteAction } from "./apply-run.js";
import { failureIndex } from "./match-failures.js";

/** A feature to send. */
export interface BatchItem {
  readonly action: WriteAction;
  readonly key: RemoteKey | null;
  /** The feature as JSON text. */
  readonly text: string;
  /** Position, from 0, among the features of the plan that the same operation sends. */
  readonly ordinal: number;
}

/** The features of one request. */
export interface WriteBatch {
  readonly items: readonly BatchItem[];
  /** Identical for every attempt to send this batch. */
  readonly idempotencyKey: string;
  /** Number in the journal, if an earlier run sent the batch and its outcome is unknown. */
  readonly uncertainEntry?: number;
}

/** Creates batches of at most a thousand features within the byte limit; a larger feature is sent alone. */
export async function* createBatches(
  groups: AsyncIterable<readonly BatchItem[]>,
  run: ApplyRun,
): AsyncGenerator<WriteBatch> {
  const limits = {
    count: maxFeaturesPerRequest,
    get bytes() {
      return run.maxBatchBytes;
    },
  };
  for await (const items of splitIntoBatches(groups, ({ text }) => text, limits))
    yield { items, idempotencyKey: run.createIdempotencyKey() };
}

/** Splits a batch into two for separate requests. */
export function splitBatch({ items }: WriteBatch, run: ApplyRun): [WriteBatch, WriteBatch] {
  const middle = Math.ceil(items.length / 2);
  return [createPart(items.slice(0, middle), run), createPart(items.slice(middle), run)];
}

const createPart = (items: readonly BatchItem[], run: ApplyRun): WriteBatch => ({
  items,
  idempotencyKey: run.createIdempotencyKey(),
});

/**
 * Separates the features that failures may mean from the others, which come first. Services count features from 0 or from 1.
 * @returns null if the failures may mean none or all of them
 */
export function splitByFailures(
  { items }: WriteBatch,
  failed: readonly WireFailure[],
  run: ApplyRun,
): [WriteBatch, WriteBatch] | null {
  const ids = new Set(failed.map(({ id }) => id));
  const indexes = new Set(failed.map(failureIndex));
  const isSuspect = ({ action }: BatchItem, index: number) =>
    indexes.has(index) || indexes.has(index + 1) || ("id" in action && ids.has(action.id));
  const suspects = items.filter(isSuspect);
  if (suspects.length === 0 || suspects.length === items.length) return null;
  const others = items.filter((item, index) => !isSuspect(item, index));
  return [createPart(others, run), createPart(suspects, run)];
}

/**
 * Processes several items concurrently, and pulls the next only when a slot is free. After a failure it pulls no more
 * items, and throws when the running ones have ended.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const limit = pLimit(concurrency);
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  const start = (item: T) => {
    const task: Promise<void> = limit(work, item)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => running.delete(task));
    running.add(task);
  };
  try {
    for await (const item of items) {
      start(item);
      if (running.size >= concurrency) await Promise.race(running);
      if (failure) break;
    }
  } finally {
    await Promise.all(running);
  }
  const { error } = (failure as { readonly error: unknown } | null) ?? {};
  if (failure) throw error;
}
