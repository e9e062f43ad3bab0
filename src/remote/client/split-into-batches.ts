/**
 * Splits features into batches of at most 1000 features (Map Features Service Interface, 8) and the maximum request
 * size.
 */

import { maxFeaturesPerRequest } from "../wire.js";
import { defaultMaxBytes } from "./complete-set.js";

/** Maximum batch size. Read before every batch, since a service may reject batches as too large. */
export interface BatchLimits {
  readonly count: number;
  /** Total bytes of the features in a batch. */
  readonly bytes: number;
}

export const defaultBatchLimits: BatchLimits = { count: maxFeaturesPerRequest, bytes: defaultMaxBytes };

/**
 * Groups items into batches and keeps their order. An item that exceeds the byte limit gets a separate batch.
 * @param groups items in groups, as they become available
 */
export async function* splitIntoBatches<T>(
  groups: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  textOf: (item: T) => string,
  limits = defaultBatchLimits,
): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let batchBytes = 0;
  for await (const group of groups) {
    for (const item of group) {
      const bytes = Buffer.byteLength(textOf(item)) + 1;
      if (batch.length > 0 && (batch.length >= limits.count || batchBytes + bytes > limits.bytes)) {
        yield batch;
        batch = [];
        batchBytes = 0;
      }
      batch.push(item);
      batchBytes += bytes;
    }
  }
  if (batch.length > 0) yield batch;
}
