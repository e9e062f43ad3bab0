import { maxFeaturesPerRequest } from "../wire.js";
import type { CompleteSet } from "./map-client.js";

/** The source features that make up the complete content of a map. */
export interface CompleteSetSource {
  /** Yields the JSON text of each feature. Throws if the source cannot be read to the end. */
  texts(): Iterable<string> | AsyncIterable<string>;
  /** Number of source features that `texts` omits because they were rejected or unreadable. */
  readonly missingCount: number;
}

/** Maximum bytes of features in one request, slightly below the 10 MiB that services accept. */
export const defaultMaxBytes = 8 * 1024 * 1024;

/**
 * Reads the payload of a full synchronization (Map Features Service Interface, 4.4). A PUT deletes every feature that
 * it omits, so only this function creates a `CompleteSet`, after reading the source to the end.
 * @param remoteField null if ids identify the features
 * @returns null if features are missing or exceed the limits of one request
 */
export async function readCompleteSet(
  reader: CompleteSetSource,
  remoteField: string | null,
  maxBytes: number = defaultMaxBytes,
): Promise<CompleteSet | null> {
  const features: string[] = [];
  let bytes = 0;
  for await (const text of reader.texts()) {
    bytes += Buffer.byteLength(text) + 1;
    if (features.length === maxFeaturesPerRequest || bytes > maxBytes) return null;
    features.push(text);
  }
  if (reader.missingCount !== 0) return null;
  // The brand exists only at type level.
  return { features, remoteField } as unknown as CompleteSet;
}
