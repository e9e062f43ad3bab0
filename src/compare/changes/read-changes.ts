/** Reads the differences of a pair from the tables of a comparison. */

import type { ComparisonRules } from "../../canonical/rules.js";
import { ComparisonTables, type MatchedPair } from "../match/comparison-tables.js";
import { shownKey } from "../match/match-rows.js";
import type { LayerPair } from "../pair-layers.js";
import type { SpooledLayer } from "../spool/spooled-side.js";
import type { Workspace } from "../workspace.js";
import { type FeatureChange, FeatureComparer, type RowReference } from "./feature-change.js";
import type { ToDegrees } from "./movement.js";

/** Memory for the features of pairs that are read together. */
const blockBytes = 32 * 2 ** 20;

/** Yields `equal` for a pair that only differs within the precision. */
export function* readChanges(
  workspace: Workspace,
  pair: LayerPair,
  rules: ComparisonRules,
  { name, toDegrees }: { readonly name: string; readonly toDegrees: ToDegrees },
): Generator<FeatureChange | "equal"> {
  const tables = new ComparisonTables(workspace);
  const comparer = new FeatureComparer(rules, toDegrees);
  for (const block of pairBlocks(tables, pair)) {
    const old = readRows(
      pair.old,
      block.map(({ map }) => map.seq),
    );
    const recent = readRows(
      pair.new,
      block.map(({ source }) => source.seq),
    );
    for (const [at, { source }] of block.entries()) {
      const found = comparer.compare(old[at]!, recent[at]!);
      if (found === null) yield "equal";
      else yield { ...found, layer: name, key: shownKey(source.key), old: old[at]!, new: recent[at]! };
    }
  }
  for (const { seq, key } of tables.findOnlyInSource())
    yield { ...unmatched(name), change: "added", key: shownKey(key), old: null, new: rowOf(pair.new, seq) };
  for (const { seq, key } of tables.findOnlyOnMap())
    yield { ...unmatched(name), change: "removed", key: shownKey(key), old: rowOf(pair.old, seq), new: null };
}

/** All features of a layer that the other side lacks. */
export function* readWholeLayer(layer: SpooledLayer, change: "added" | "removed"): Generator<FeatureChange> {
  for (let record = 1; record <= layer.rows; record++) {
    const row = rowOf(layer, record);
    const [old, recent] = change === "added" ? [null, row] : [row, null];
    yield { ...unmatched(layer.name), change, key: null, old, new: recent };
  }
}

const unmatched = (layer: string) => ({ layer, values: [], movement: null });

function rowOf(layer: SpooledLayer, record: number): RowReference {
  const index = layer.batchOf(record - 1);
  return { batch: layer.batchAt(index), row: record - 1 - layer.batches[index]!.firstRow, record };
}

function* pairBlocks(tables: ComparisonTables, pair: LayerPair): Generator<MatchedPair[]> {
  const size = Math.max(pair.old.bytesPerRow, pair.new.bytesPerRow, 1);
  const rows = Math.min(16_384, Math.max(64, Math.floor(blockBytes / size)));
  let block: MatchedPair[] = [];
  for (const found of tables.findDiffering()) {
    block.push(found);
    if (block.length < rows) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}

/**
 * Reads rows in the order of the file, so that each batch is decoded once, and returns them in the given order. Rows that
 * are spread over many batches are copied, so that the batches do not stay in memory.
 */
function readRows(layer: SpooledLayer, records: readonly number[]): RowReference[] {
  const order = records.map((_, at) => at).sort((a, b) => records[a]! - records[b]!);
  const indexes = new Set(records.map((record) => layer.batchOf(record - 1)));
  const bytes = [...indexes].reduce((sum, index) => sum + layer.batches[index]!.length, 0);
  const copies = bytes > 2 * blockBytes;
  const found = new Array<RowReference>(records.length);
  for (const at of order) {
    const reference = rowOf(layer, records[at]!);
    const { batch, row, record } = reference;
    found[at] = copies ? { batch: batch.take(Uint32Array.of(row)), row: 0, record } : reference;
  }
  return found;
}
