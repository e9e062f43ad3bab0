import { rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalFeature, digestText, type Rounding } from "../../canonical/canonical-feature.js";
import type { KeyReader } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { withSpoolErrors } from "../../io/input/spool.js";
import { BufferedFile } from "../../io/output/buffered-file.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { WireFeature } from "../wire.js";
import { canonicalExactText } from "./exact-feature.js";
import type { NumberedPage } from "./map-page-reader.js";
import { Fingerprint, geometryKind, SnapshotStats } from "./snapshot-stats.js";

type PageStream = AsyncIterable<NumberedPage>;

/** How features are stored and compared. */
export interface StorageOptions {
  readonly rounding: Rounding;
  /** Whether to keep the verbatim texts of the service and to compute exact digests from them. */
  readonly exact: boolean;
}

const featureDigest = (feature: WireFeature, rounding: Rounding): string =>
  digestText(canonicalFeature(feature, rounding));

const exactDigest = (text: string | undefined): string | null =>
  text === undefined ? null : digestText(canonicalExactText(text));

/** The verbatim texts of the service; empty if not requested, or if some are missing. */
function writtenTexts({ features, texts }: NumberedPage, { exact }: StorageOptions): readonly string[] {
  const written = exact ? (texts?.() ?? []) : [];
  return written.length === features.length ? written : [];
}

/** Statistics and fingerprint of a stored map. */
interface SnapshotDigest {
  readonly stats: SnapshotStats;
  readonly fingerprint: string;
}

/** The stored features of a map, and whether the pages repeated one. */
export interface StoredMap extends SnapshotDigest {
  /** An id that occurred more than once; null if all are unique. */
  readonly repeatedId: string | null;
}

/** Limit of the bytes of a map's features in the temporary folder. */
export interface MapSizeLimit {
  /** Name of the map, for messages. */
  readonly name: string;
  readonly maxBytes?: number;
}

/** 64 GiB. */
const defaultMaxBytes = 64 * 2 ** 30;

/**
 * Replaces the map side of a workspace with the features of a map; their texts become lines of a file. For duplicate
 * ids, keeps the feature read last: when pages shift, it is the newer one.
 * @param key reads the feature keys; without it, features have no keys
 * @throws output-failed, input-too-large
 */
export async function storePages(
  pages: PageStream,
  workspace: Workspace,
  options: StorageOptions,
  key?: KeyReader,
  limit?: MapSizeLimit,
): Promise<StoredMap> {
  const { database, map } = workspace;
  const path = join(workspace.folder, "map.ndjson");
  database.exec("DROP INDEX IF EXISTS map_id; DROP INDEX IF EXISTS map_key");
  map.clear();
  map.keyedBy = key?.property ?? null;
  rmSync(path, { force: true });
  const stats = new SnapshotStats();
  const fingerprint = new Fingerprint();
  const number = map.addFile(path);
  const file = await withSpoolErrors(path, BufferedFile.create(path, 0o600));
  try {
    for await (const currentPage of pages) {
      const { features, number: page } = currentPage;
      const written = writtenTexts(currentPage, options);
      const texts: string[] = [];
      workspace.transaction(() => {
        let start = file.size;
        for (const [n, feature] of features.entries()) {
          const text = written[n] ?? stringifyExactly(feature);
          const length = Buffer.byteLength(text);
          const kind = geometryKind(feature.geometry);
          const digests = { digest: featureDigest(feature, options.rounding), exact: exactDigest(written[n]) };
          const row = { id: feature.id, page, kind, file: number, start, length, ...digests };
          map.add(row, key?.read(feature.properties));
          stats.add(feature);
          fingerprint.toggle(row.id, row.digest);
          texts.push(text, "\n");
          start += length + 1;
        }
      });
      const bytes = Buffer.from(texts.join(""));
      const maxBytes = limit?.maxBytes ?? defaultMaxBytes;
      if (file.size + bytes.length > maxBytes)
        throw createError("input-too-large", {
          source: limit?.name ?? "the map",
          limit: maxBytes,
          option: "--max-input",
        });
      await withSpoolErrors(path, file.write(bytes));
    }
    await withSpoolErrors(path, file.flush());
  } finally {
    await file.close();
  }
  const repeatedId = removeDuplicateIds(workspace);
  const digest = repeatedId === null ? { stats, fingerprint: fingerprint.toString() } : digestSnapshot(workspace);
  return { ...digest, repeatedId };
}

/** Keeps the last row of each id. @returns an id with several rows; null if there is none */
function removeDuplicateIds({ database }: Workspace): string | null {
  database.exec("CREATE INDEX map_id ON map (id)");
  const repeated = database
    .prepare<[], { id: string }>("SELECT id FROM map GROUP BY id HAVING count(*) > 1 LIMIT 1")
    .get();
  if (!repeated) return null;
  database
    .prepare("DELETE FROM map WHERE EXISTS (SELECT 1 FROM map later WHERE later.id = map.id AND later.seq > map.seq)")
    .run();
  return repeated.id;
}

function digestSnapshot({ map }: Workspace): SnapshotDigest {
  const stats = new SnapshotStats();
  const fingerprint = new Fingerprint();
  for (const row of map.rows()) {
    const { geometry = null, properties } = JSON.parse(map.textOf(row)) as Partial<WireFeature>;
    stats.add({ geometry, properties: properties ?? {} });
    fingerprint.toggle(row.id!, row.digest);
  }
  return { stats, fingerprint: fingerprint.toString() };
}

export interface MapComparison {
  /** Whether the pages contain exactly the stored features, with the same digests. */
  readonly isUnchanged: boolean;
  /** An id that occurred more than once in the pages that were read; null if there is none. */
  readonly repeatedId: string | null;
}

/** Compares pages with the stored features, in any order, up to the first difference. */
export async function compareWithStoredMap(
  pages: PageStream,
  { database }: Workspace,
  options: StorageOptions,
): Promise<MapComparison> {
  const find = database.prepare<[string], { seq: number; digest: string; exact: string | null }>(
    "SELECT seq, digest, exact FROM map WHERE id = ?",
  );
  const counts = database.prepare<[], { rows: number; last: number }>(
    "SELECT count(*) AS rows, coalesce(max(seq), 0) AS last FROM map",
  );
  const { rows, last } = counts.get()!;
  const seen = new Uint8Array(Math.ceil((last + 1) / 8));
  let distinct = 0;
  let repeatedId: string | null = null;
  for await (const page of pages) {
    const written = writtenTexts(page, options);
    for (const [n, feature] of page.features.entries()) {
      const stored = find.get(feature.id);
      if (stored?.digest !== featureDigest(feature, options.rounding) || stored.exact !== exactDigest(written[n]))
        return { isUnchanged: false, repeatedId: null };
      const bit = 1 << (stored.seq & 7);
      if ((seen[stored.seq >> 3]! & bit) === 0) distinct += 1;
      else repeatedId = feature.id;
      seen[stored.seq >> 3]! |= bit;
    }
  }
  return { isUnchanged: distinct === rows, repeatedId };
}
