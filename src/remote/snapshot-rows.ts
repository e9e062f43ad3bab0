import { rmSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../errors.js";
import { BufferedFile } from "../io/buffered-file.js";
import { spooling } from "../io/spool.js";
import { canonicalFeature, digestOf, type Rounding } from "./canonical.js";
import type { KeyReader } from "./feature-side.js";
import { Fingerprint, kindOf, SnapshotFacts } from "./snapshot-facts.js";
import type { NumberedPage } from "./snapshot-pages.js";
import type { WireFeature } from "./wire.js";
import type { Workspace } from "./workspace.js";

type Pages = AsyncIterable<NumberedPage>;

const digest = (feature: WireFeature, rounding: Rounding): string => digestOf(canonicalFeature(feature, rounding));

/** What is known of the features in the table of a map. */
export interface StoredMap {
  readonly facts: SnapshotFacts;
  readonly fingerprint: string;
}

/** The most bytes that the features of a map may have in the folder for temporary files; 64 GiB where absent. */
export interface SizeLimit {
  /** Of the map, for messages. */
  readonly name: string;
  readonly maxBytes?: number;
}

const usualMaxBytes = 64 * 2 ** 30;

/**
 * Puts the features of a map into its side of a workspace, where it had others before: their texts as lines of a file.
 * Of features with one id the one that was read last is kept: where pages shift, it is the newer.
 * @param key read into the keys of the features; none are where absent
 * @throws output-failed, input-too-large
 */
export async function storePages(
  pages: Pages,
  workspace: Workspace,
  rounding: Rounding,
  key?: KeyReader,
  limit?: SizeLimit,
): Promise<StoredMap> {
  const { database, map } = workspace;
  const path = join(workspace.folder, "map.ndjson");
  database.exec("DROP INDEX IF EXISTS map_id; DROP INDEX IF EXISTS map_key");
  map.clear();
  map.keyedBy = key?.property ?? null;
  rmSync(path, { force: true });
  const facts = new SnapshotFacts();
  const fingerprint = new Fingerprint();
  const number = map.addFile(path);
  const file = await spooling(path, BufferedFile.create(path, 0o600));
  try {
    for await (const { features, number: page } of pages) {
      const texts: string[] = [];
      workspace.together(() => {
        let start = file.size;
        for (const feature of features) {
          const text = JSON.stringify(feature);
          const length = Buffer.byteLength(text);
          const kind = kindOf(feature.geometry);
          const row = { id: feature.id, page, kind, file: number, start, length, digest: digest(feature, rounding) };
          map.add(row, key?.read(feature.properties));
          facts.add(feature);
          fingerprint.toggle(row.id, row.digest);
          texts.push(text, "\n");
          start += length + 1;
        }
      });
      const bytes = Buffer.from(texts.join(""));
      const most = limit?.maxBytes ?? usualMaxBytes;
      if (file.size + bytes.length > most)
        throw fault("input-too-large", { source: limit?.name ?? "the map", limit: most, option: "--max-input" });
      await spooling(path, file.write(bytes));
    }
    await spooling(path, file.flush());
  } finally {
    await file.close();
  }
  return dropRepeated(workspace) ? whatIsStored(workspace) : { facts, fingerprint: fingerprint.toString() };
}

/** Leaves the last row of each id. @returns whether any was dropped */
function dropRepeated({ database }: Workspace): boolean {
  database.exec("CREATE INDEX map_id ON map (id)");
  if (!database.prepare("SELECT 1 FROM map GROUP BY id HAVING count(*) > 1 LIMIT 1").get()) return false;
  const { changes } = database
    .prepare("DELETE FROM map WHERE EXISTS (SELECT 1 FROM map later WHERE later.id = map.id AND later.seq > map.seq)")
    .run();
  return changes > 0;
}

function whatIsStored({ map }: Workspace): StoredMap {
  const facts = new SnapshotFacts();
  const fingerprint = new Fingerprint();
  for (const row of map.rows()) {
    facts.add(JSON.parse(map.textOf(row)) as WireFeature);
    fingerprint.toggle(row.id!, row.digest);
  }
  return { facts, fingerprint: fingerprint.toString() };
}

/** Whether pages have the features that are stored, with the same digests, and no others; in any order. */
export async function agrees(pages: Pages, { database }: Workspace, rounding: Rounding): Promise<boolean> {
  const find = database.prepare<[string], { seq: number; digest: string }>("SELECT seq, digest FROM map WHERE id = ?");
  const counts = database.prepare<[], { rows: number; last: number }>(
    "SELECT count(*) AS rows, coalesce(max(seq), 0) AS last FROM map",
  );
  const { rows, last } = counts.get()!;
  const met = new Uint8Array(Math.ceil((last + 1) / 8));
  let distinct = 0;
  for await (const { features } of pages) {
    for (const feature of features) {
      const held = find.get(feature.id);
      if (held?.digest !== digest(feature, rounding)) return false;
      const bit = 1 << (held.seq & 7);
      if ((met[held.seq >> 3]! & bit) === 0) distinct += 1;
      met[held.seq >> 3]! |= bit;
    }
  }
  return distinct === rows;
}
