/** Fills the tables of a comparison with the features that differ, and gives both sides of a pair the same key. */

import type { Remainders, RowSet } from "../../canonical/cancel-equal.js";
import { RowEncoder } from "../../canonical/canonical-row.js";
import { textOfValue } from "../../canonical/canonical-value.js";
import { digestBytes } from "../../canonical/digest-file.js";
import { normalizedKind } from "../../canonical/normalize-geometry.js";
import type { ComparisonRules } from "../../canonical/rules.js";
import type { Batch } from "../../model/batch.js";
import { Kind } from "../../model/geometry.js";
import type { Database } from "../../sqlite/index.js";
import type { LayerPair } from "../pair-layers.js";
import { digestOf } from "../spool/comparison-format.js";
import type { SpooledLayer } from "../spool/spooled-side.js";
import type { Workspace } from "../workspace.js";
import type { KeyChoice } from "./choose-key.js";
import { createRowKeyReader, type MatchKey } from "./row-key.js";

/** First character of the key of a pair: how it was found. */
const marks = {
  key: "k",
  duplicateKey: "d",
  rounding: "r",
  geometry: "g",
  closeGeometry: "h",
  attributes: "a",
} as const;

/** The key as in the data; null if the features were matched by content. */
export const shownKey = (key: string | null): string | null => {
  if (key?.startsWith(marks.key)) return key.slice(1);
  return key?.startsWith(marks.duplicateKey) ? key.slice(key.indexOf(":") + 1) : null;
};

/**
 * The table `source` gets the new features, `map` the old ones.
 * @param rules of both sides
 */
export function matchRows(
  workspace: Workspace,
  pair: LayerPair,
  remainders: Remainders,
  choice: KeyChoice,
  rules: ComparisonRules,
): void {
  const { database } = workspace;
  database.exec("DROP INDEX IF EXISTS source_key; DROP INDEX IF EXISTS map_key; DELETE FROM source; DELETE FROM map");
  fillTable(workspace, "map", pair.old, remainders.old, choice.key);
  fillTable(workspace, "source", pair.new, remainders.new, choice.key);
  if (choice.key !== null && (choice.old?.duplicates ?? 0) + (choice.new?.duplicates ?? 0) > 0)
    for (const table of ["source", "map"]) numberDuplicates(database, table);
  matchByContent(workspace, pair, rules);
}

function fillTable(
  workspace: Workspace,
  table: "source" | "map",
  layer: SpooledLayer,
  remainder: RowSet,
  key: MatchKey | null,
): void {
  const insert = workspace.database.prepare(
    `INSERT INTO ${table} (seq, id, page, kind, file, start, length, digest, exact, key, numeric)
     VALUES (?, ?, ?, ?, 0, ?, ?, ?, NULL, ?, 0)`,
  );
  for (const { firstRow, digests } of layer.digestBlocks()) {
    const rows = digests.length / digestBytes;
    workspace.transaction(() => {
      let index = -1;
      let batch: Batch | null = null;
      let read: ReturnType<typeof createRowKeyReader> = () => null;
      for (let at = 0; at < rows; at++) {
        const row = firstRow + at;
        if (!remainder.has(row)) continue;
        const found = layer.batchOf(row);
        if (found !== index) {
          index = found;
          batch = layer.batchAt(index);
          read = key === null ? () => null : createRowKeyReader(batch, key);
        }
        const { start, length, firstRow: first } = layer.batches[index]!;
        const text = read(row - first);
        const id = batch!.ids && textOfValue(batch!.ids, row - first);
        const digest = digests.toString("hex", at * digestBytes, (at + 1) * digestBytes);
        const kind = batch!.geometry.kinds[row - first]!;
        insert.run(row + 1, id, row - first, kind, start, length, digest, text === null ? null : `${marks.key}${text}`);
      }
    });
  }
}

/** Several features with the same key on both sides are pairs in their order. */
function numberDuplicates(database: Database, table: string): void {
  database.exec(`
    CREATE INDEX temp_key ON ${table} (key);
    UPDATE ${table} SET key = '${marks.duplicateKey}' || later.n || ':' || substr(${table}.key, 2)
    FROM (SELECT seq, row_number() OVER (PARTITION BY key ORDER BY seq) AS n FROM ${table}
          WHERE key IN (SELECT key FROM ${table} WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1)) AS later
    WHERE later.seq = ${table}.seq AND later.n > 1;
    DROP INDEX temp_key;`);
}

const contentColumns = ["rounding", "geometry", "closeGeometry", "attributes"] as const;

/**
 * Matches the features without a key: by content in another rounding, by geometry, and by attributes, each only if one
 * feature of either side has it.
 */
function matchByContent(workspace: Workspace, pair: LayerPair, rules: ComparisonRules): void {
  const { database } = workspace;
  const unkeyed = (table: string) =>
    database.prepare(`SELECT count(*) FROM ${table} WHERE key IS NULL`).pluck().get() as number;
  if (unkeyed("source") === 0 || unkeyed("map") === 0) return;
  database.exec(`
    DROP TABLE IF EXISTS temp.content;
    CREATE TEMP TABLE content (side TEXT NOT NULL, seq INTEGER NOT NULL, rounding TEXT, geometry TEXT,
      closeGeometry TEXT, attributes TEXT, PRIMARY KEY (side, seq)) WITHOUT ROWID;`);
  fillContent(workspace, "map", pair.old, rules);
  fillContent(workspace, "source", pair.new, rules);
  for (const column of contentColumns) {
    database.exec(`
      CREATE TEMP TABLE pairs AS SELECT s.seq AS source, m.seq AS map, s.value AS value FROM
        (SELECT ${column} AS value, min(seq) AS seq FROM content WHERE side = 'source' AND ${column} IS NOT NULL
         GROUP BY ${column} HAVING count(*) = 1) AS s
        JOIN (SELECT ${column} AS value, min(seq) AS seq FROM content WHERE side = 'map' AND ${column} IS NOT NULL
         GROUP BY ${column} HAVING count(*) = 1) AS m ON m.value = s.value;
      UPDATE source SET key = '${marks[column]}' || pairs.value FROM temp.pairs WHERE pairs.source = source.seq;
      UPDATE map SET key = '${marks[column]}' || pairs.value FROM temp.pairs WHERE pairs.map = map.seq;
      DELETE FROM content WHERE side = 'source' AND seq IN (SELECT source FROM temp.pairs);
      DELETE FROM content WHERE side = 'map' AND seq IN (SELECT map FROM temp.pairs);
      DROP TABLE temp.pairs;`);
  }
  database.exec("DROP TABLE temp.content");
}

function fillContent(workspace: Workspace, side: "source" | "map", layer: SpooledLayer, rules: ComparisonRules): void {
  const { database } = workspace;
  const insert = database.prepare("INSERT INTO temp.content VALUES (?, ?, ?, ?, ?, ?)");
  const select = database.prepare(`SELECT seq FROM ${side} WHERE key IS NULL AND seq > ? ORDER BY seq LIMIT 1000`);
  const encoder = new RowEncoder(rules);
  for (let last = 0; ; ) {
    const rows = select.all(last) as { readonly seq: number }[];
    workspace.transaction(() => {
      for (const { seq } of rows) {
        const index = layer.batchOf(seq - 1);
        const batch = layer.batchAt(index);
        const row = seq - 1 - layer.batches[index]!.firstRow;
        const digest = (part: "geometry" | "attributes" | "feature", roundsDown: boolean): string =>
          digestOf(encoder.encode(batch, row, part, roundsDown));
        const hasGeometry = normalizedKind(batch.geometry, row) !== Kind.none;
        const hasAttributes = encoder.encode(batch, row, "attributes").length > 0;
        insert.run(
          side,
          seq,
          digest("feature", true),
          hasGeometry ? digest("geometry", false) : null,
          hasGeometry ? digest("geometry", true) : null,
          hasAttributes ? digest("attributes", false) : null,
        );
      }
    });
    if (rows.length < 1000) return;
    last = rows.at(-1)!.seq;
  }
}
