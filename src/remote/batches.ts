/** Features in requests: at most 1000 (Map Features Service Interface, 8), and no more bytes than a service takes. */
import { usualBytes } from "./complete-set.js";
import type { WriteOutcome } from "./map-client.js";
import { featuresPerRequest } from "./wire.js";

/** How large batches may be; a service that finds them too large is given smaller ones from then on. */
export class BatchLimits {
  constructor(
    readonly count: number = featuresPerRequest,
    private most: number = usualBytes,
  ) {}

  /** Bytes of the features of a batch. */
  get bytes(): number {
    return this.most;
  }

  /** What comes after a batch of so many bytes was too large has half of it at most. */
  tooLarge(bytes: number): void {
    this.most = Math.min(this.most, Math.ceil(bytes / 2));
  }
}

type Texts<T> = (item: T) => string;

const bytesOf = <T>(item: T, textOf: Texts<T>): number => Buffer.byteLength(textOf(item)) + 1;

/** Groups items in their order. One whose text alone is more than the limit has a batch of its own. */
export async function* batches<T>(
  items: Iterable<T> | AsyncIterable<T>,
  textOf: Texts<T>,
  limits: Pick<BatchLimits, "count" | "bytes"> = new BatchLimits(),
): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let filled = 0;
  for await (const item of items) {
    const bytes = bytesOf(item, textOf);
    if (batch.length > 0 && (batch.length >= limits.count || filled + bytes > limits.bytes)) {
      yield batch;
      batch = [];
      filled = 0;
    }
    batch.push(item);
    filled += bytes;
  }
  if (batch.length > 0) yield batch;
}

export interface SentBatch<T> {
  readonly items: readonly T[];
  readonly outcome: WriteOutcome;
}

/**
 * Sends a batch and, where the service finds it too large (413: nothing of it was applied), its halves, as often as it
 * takes. An item that is too large alone is given back with that outcome.
 */
export async function* sendInParts<T>(
  items: readonly T[],
  textOf: Texts<T>,
  limits: BatchLimits,
  send: (items: readonly T[]) => Promise<WriteOutcome>,
): AsyncGenerator<SentBatch<T>> {
  const outcome = await send(items);
  if (outcome.kind !== "too-large" || items.length <= 1) {
    yield { items, outcome };
    return;
  }
  limits.tooLarge(items.reduce((sum, item) => sum + bytesOf(item, textOf), 0));
  const middle = Math.ceil(items.length / 2);
  yield* sendInParts(items.slice(0, middle), textOf, limits, send);
  yield* sendInParts(items.slice(middle), textOf, limits, send);
}
