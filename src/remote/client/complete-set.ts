import { maxFeaturesPerRequest } from "../wire.js";
import type { CompleteSet } from "./map-client.js";

/** Where the features of a source are read from, to be all that a map shall have. */
export interface CompleteSetSource {
  /** JSON texts of the features. It throws where the reading breaks off. */
  texts(): Iterable<string> | AsyncIterable<string>;
  /** Features of the source that are not among the texts: those that were rejected or could not be read. */
  readonly missingCount: number;
}

/** Bytes of features in one request, a little under the 10 MiB that services take. */
export const defaultMaxBytes = 8 * 1024 * 1024;

/**
 * What a full synchronisation (Map Features Service Interface, 4.4) can be asked to make of a map. A PUT deletes what
 * it does not name, so it has to name everything: nothing but this function makes a `CompleteSet`, by reading to the
 * end.
 * @param remoteField null where ids identify the features
 * @returns null where features are missing, or do not fit into one request
 */
export async function readCompleteSet(
  reader: CompleteSetSource,
  remoteField: string | null,
  mostBytes: number = defaultMaxBytes,
): Promise<CompleteSet | null> {
  const features: string[] = [];
  let bytes = 0;
  for await (const text of reader.texts()) {
    bytes += Buffer.byteLength(text) + 1;
    if (features.length === maxFeaturesPerRequest || bytes > mostBytes) return null;
    features.push(text);
  }
  if (reader.missingCount !== 0) return null;
  // The mark is one of types alone.
  return { features, remoteField } as unknown as CompleteSet;
}
