import type { Rounding } from "../../canonical/canonical-feature.js";
import type { KeyReader } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { Extent } from "../../model/geometry.js";
import type { MapClient, MapPage } from "../client/map-client.js";
import { MapPageReader, type NumberedPage } from "./map-page-reader.js";
import { compareWithStoredMap, type StoredMap, storePages } from "./store-pages.js";

/** The state of a map at one point in time; its features are in `workspace.map`, with unique ids. */
export interface Snapshot {
  readonly features: number;
  /** Verbatim entity tag of the whole map, possibly weak; null if the service sends none. */
  readonly etag: string | null;
  /** Order-independent hash of ids and digests, hexadecimal: equal for equal content at this rounding. */
  readonly fingerprint: string;
  /** Maximum decimals of a longitude or latitude of the map, at most 15. */
  readonly decimals: number;
  /** Extent of all positions; null if there are none. */
  readonly extent: Extent | null;
  /** Number of features with a value, by property name. */
  readonly fields: ReadonlyMap<string, number>;
  /** Number of features by the `Kind` number of their geometry (src/model/geometry.ts). */
  readonly kinds: readonly number[];
}

export interface SnapshotProgress {
  /** Features read in this pass. */
  readonly features: number;
  /** 1 while features are stored, 2 while they are compared with the stored ones. */
  readonly pass: 1 | 2;
}

export interface SnapshotSettings {
  /** Decimals used for digests. */
  readonly rounding: Rounding;
  /** Accepts a single pass, although pages may have shifted meanwhile. */
  readonly singleRead?: boolean;
  /** Fills in feature keys while reading, if the key property is known. */
  readonly key?: KeyReader | undefined;
  /** Also keeps the verbatim texts of features, and digests of them. */
  readonly exact?: boolean | undefined;
  /** Maximum bytes of all features. */
  readonly maxBytes?: number | undefined;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}

interface ConditionalSettings extends SnapshotSettings {
  /** The last known entity tag of the map; null if there is none. */
  readonly ifNoneMatch: string | null;
}

/** Maximum attempts if other clients change the map during reading. */
const maxAttempts = 3;

/**
 * Reads a whole map into `workspace.map`, replacing its content. Concurrent writes shift pages, so a reading is
 * accepted only if the map fits one page, if all pages have the same entity tag, or if a second pass finds the same
 * features with the same digests. An id that occurs twice is a sign of shifted pages; with the same strong entity tag on
 * all pages it contradicts the tag, since that identifies one state (RFC 9110, 8.8.1).
 * @returns null if the map still has the entity tag `ifNoneMatch`; then nothing is stored
 * @throws remote-changed-during-read if the map changed in each of three attempts; remote-protocol-error; output-failed,
 * input-too-large; errors of `MapClient.page`
 */
export async function readSnapshot(
  client: MapClient,
  workspace: Workspace,
  settings: ConditionalSettings,
): Promise<Snapshot | null>;
export async function readSnapshot(
  client: MapClient,
  workspace: Workspace,
  settings: SnapshotSettings,
): Promise<Snapshot>;
export async function readSnapshot(
  client: MapClient,
  workspace: Workspace,
  settings: SnapshotSettings & Partial<ConditionalSettings>,
): Promise<Snapshot | null> {
  const { rounding, singleRead = false, key, exact = false, maxBytes, ifNoneMatch = null } = settings;
  const storageOptions = { rounding, exact };
  const limit = { name: `map ${client.id}`, ...(maxBytes !== undefined && { maxBytes }) };
  let first: MapPage | undefined;
  if (ifNoneMatch !== null) {
    const page = await client.page(1, ifNoneMatch);
    if (page === null) return null;
    first = page;
  }
  for (let n = 0; n < maxAttempts; n++) {
    const reading = new MapPageReader(client);
    const stored = await storePages(
      withProgress(reading.read(first), settings, 1),
      workspace,
      storageOptions,
      key,
      limit,
    );
    first = undefined;
    checkUniqueIds(client, reading, stored.repeatedId);
    if (singleRead || (reading.isSteady && stored.repeatedId === null)) return createSnapshot(stored, reading.etag);
    const secondReading = new MapPageReader(client, reading.pages);
    const { isUnchanged, repeatedId } = await compareWithStoredMap(
      withProgress(secondReading.read(), settings, 2),
      workspace,
      storageOptions,
    );
    checkUniqueIds(client, secondReading, repeatedId);
    if (isUnchanged) return createSnapshot(stored, secondReading.etag);
  }
  throw createError("remote-changed-during-read", { service: client.url, map: client.id, tries: maxAttempts });
}

/** @throws remote-protocol-error if an id occurs twice in one state of the map */
function checkUniqueIds({ url, id }: MapClient, reading: MapPageReader, repeatedId: string | null): void {
  if (repeatedId === null || !reading.isOneState) return;
  const reason = `two features of map ${id} have the id ${repeatedId}, although all pages have the same entity tag`;
  throw createError("remote-protocol-error", { service: url, reason });
}

const createSnapshot = ({ stats, fingerprint }: StoredMap, etag: string | null): Snapshot => ({
  features: stats.features,
  etag,
  fingerprint,
  decimals: stats.decimals,
  extent: stats.extent,
  fields: stats.fields,
  kinds: stats.kinds,
});

async function* withProgress(
  pages: AsyncIterable<NumberedPage>,
  { onProgress }: SnapshotSettings,
  pass: 1 | 2,
): AsyncGenerator<NumberedPage> {
  let features = 0;
  for await (const page of pages) {
    yield page;
    features += page.features.length;
    onProgress?.({ features, pass });
  }
}
