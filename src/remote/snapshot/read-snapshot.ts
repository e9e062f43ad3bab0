import { createError } from "../../errors.js";
import type { Extent } from "../../model/geometry.js";
import type { MapClient, MapPage } from "../client/map-client.js";
import type { Rounding } from "./canonical-feature.js";
import type { KeyReader } from "./feature-side.js";
import { MapPageReader, type NumberedPage } from "./map-page-reader.js";
import { matchesStoredMap, type StoredMap, storePages } from "./store-pages.js";
import type { Workspace } from "./workspace.js";

/** A map as it was at one moment; its features are in `workspace.map`, each id once. */
export interface Snapshot {
  readonly features: number;
  /** Entity tag of the whole map as the service wrote it, weak ones too; null where it gives none. */
  readonly etag: string | null;
  /** Over ids and digests in any order, hexadecimal: equal where the map says the same at this rounding. */
  readonly fingerprint: string;
  /** Most decimals that a longitude or latitude of the map shows, at most 15. */
  readonly decimals: number;
  /** Of all positions; null where there is none. */
  readonly extent: Extent | null;
  /** Features that have a value, by the name of the property. */
  readonly fields: ReadonlyMap<string, number>;
  /** Features by the number of `Kind` of their geometry (src/model/geometry.ts). */
  readonly kinds: readonly number[];
}

export interface SnapshotProgress {
  /** Features read in this pass. */
  readonly features: number;
  /** 1 where they are stored, 2 where they are compared with those. */
  readonly pass: 1 | 2;
}

export interface SnapshotSettings {
  /** Decimals that digests are of. */
  readonly rounding: Rounding;
  /** One reading is enough, though pages may have shifted meanwhile. */
  readonly singleRead?: boolean;
  /** Fills the keys of the features as they are read, where it is known which property they are. */
  readonly key?: KeyReader | undefined;
  /** What features say exactly is kept, too: their texts as the service wrote them, and digests of those. */
  readonly exact?: boolean | undefined;
  /** The most bytes of its features. */
  readonly maxBytes?: number | undefined;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}

interface ConditionalSettings extends SnapshotSettings {
  /** The entity tag that the map had; null for none. */
  readonly ifNoneMatch: string | null;
}

/** So often a map is read anew when others change it meanwhile. */
const maxAttempts = 3;

/**
 * Reads a whole map into `workspace.map`, in place of what is there. Pages shift when others write; so what was read is
 * taken for the map only where it fits one page, where all pages have the same entity tag, or where a second reading
 * finds the same features with the same digests.
 * @returns null where the map still has the entity tag `ifNoneMatch`: then nothing but that was asked, and nothing stored
 * @throws remote-changed-during-read where it was changed in each of three readings; output-failed, input-too-large; what `MapClient.page` throws
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
  const manner = { rounding, exact };
  const limit = { name: `map ${client.id}`, ...(maxBytes !== undefined && { maxBytes }) };
  let first: MapPage | undefined;
  if (ifNoneMatch !== null) {
    const page = await client.page(1, ifNoneMatch);
    if (page === null) return null;
    first = page;
  }
  for (let n = 0; n < maxAttempts; n++) {
    const reading = new MapPageReader(client);
    const stored = await storePages(withProgress(reading.read(first), settings, 1), workspace, manner, key, limit);
    first = undefined;
    if (singleRead || reading.isSteady) return createSnapshot(stored, reading.etag);
    const again = new MapPageReader(client, reading.pages);
    const same = await matchesStoredMap(withProgress(again.read(), settings, 2), workspace, manner);
    if (same) return createSnapshot(stored, again.etag);
  }
  throw createError("remote-changed-during-read", { service: client.url, map: client.id, tries: maxAttempts });
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
