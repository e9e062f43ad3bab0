/** Features in requests: at most 1000 (Map Features Service Interface, 8), and no more bytes than a service takes. */

import { maxFeaturesPerRequest } from "../wire.js";
import { defaultMaxBytes } from "./complete-set.js";

/** How large batches may be; asked for each anew, since a service may find them too large. */
export interface BatchLimits {
  readonly count: number;
  /** Of the features of a batch. */
  readonly bytes: number;
}

export const defaultBatchLimits: BatchLimits = { count: maxFeaturesPerRequest, bytes: defaultMaxBytes };

/**
 * Puts items together in their order. One whose text alone is more than the limit has a batch of its own.
 * @param groups items as they come, as many together as are at hand
 */
export async function* splitIntoBatches<T>(
  groups: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  textOf: (item: T) => string,
  limits = defaultBatchLimits,
): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let filled = 0;
  for await (const group of groups) {
    for (const item of group) {
      const bytes = Buffer.byteLength(textOf(item)) + 1;
      if (batch.length > 0 && (batch.length >= limits.count || filled + bytes > limits.bytes)) {
        yield batch;
        batch = [];
        filled = 0;
      }
      batch.push(item);
      filled += bytes;
    }
  }
  if (batch.length > 0) yield batch;
}
