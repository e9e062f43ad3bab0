import pLimit from "p-limit";
import { splitIntoBatches } from "../../remote/client/split-into-batches.js";
import { maxFeaturesPerRequest, type RemoteKey } from "../../remote/wire.js";
import type { ApplyRun, WriteAction } from "./apply-run.js";

/** A feature on its way. */
export interface BatchItem {
  readonly action: WriteAction;
  readonly key: RemoteKey | null;
  /** JSON of the feature as it is sent. */
  readonly text: string;
  /** Counted from 0 among all of the plan that are sent in the same way. */
  readonly ordinal: number;
}

/** What one request carries. */
export interface Batch {
  readonly items: readonly BatchItem[];
  /** The same whenever the same batch is sent. */
  readonly idempotencyKey: string;
  /** Its number in the journal, where an earlier run sent it and does not know what came of it. */
  readonly uncertainEntry?: number;
}

/** Groups of at most a thousand, and of no more bytes than a request may have; one that is larger goes alone. */
export async function* createBatches(
  groups: AsyncIterable<readonly BatchItem[]>,
  run: ApplyRun,
): AsyncGenerator<Batch> {
  const limits = {
    count: maxFeaturesPerRequest,
    get bytes() {
      return run.maxBatchBytes;
    },
  };
  for await (const items of splitIntoBatches(groups, ({ text }) => text, limits))
    yield { items, idempotencyKey: run.createIdempotencyKey() };
}

/** Both halves, for two requests. */
export function splitBatch({ items }: Batch, run: ApplyRun): [Batch, Batch] {
  const middle = Math.ceil(items.length / 2);
  const half = (part: readonly BatchItem[]): Batch => ({ items: part, idempotencyKey: run.createIdempotencyKey() });
  return [half(items.slice(0, middle)), half(items.slice(middle))];
}

/**
 * Works on several at once, and takes the next only when there is room for it. After a failure none is taken any more;
 * those under way are waited for before it is thrown.
 */
export async function forEachConcurrently<T>(
  things: AsyncIterable<T>,
  most: number,
  work: (thing: T) => Promise<void>,
): Promise<void> {
  const limit = pLimit(most);
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  const start = (thing: T) => {
    const one: Promise<void> = limit(work, thing)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => running.delete(one));
    running.add(one);
  };
  try {
    for await (const thing of things) {
      start(thing);
      if (running.size >= most) await Promise.race(running);
      if (failure) break;
    }
  } finally {
    await Promise.all(running);
  }
  const { error } = (failure as { readonly error: unknown } | null) ?? {};
  if (failure) throw error;
}
