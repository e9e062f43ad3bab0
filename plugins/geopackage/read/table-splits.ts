import type { Batch, Split } from "../../../src/model/index.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import type { Database } from "../sqlite/database.js";
import type { DatabasePages } from "../sqlite/pages.js";
import type { RowReader } from "../sqlite/row-reader.js";
import { readLeaves } from "../sqlite/tree.js";
import type { BatchBuilder } from "./batch-builder.js";

/** A run of a table's leaf pages: pairs of the first page's number and how many follow on each other. */
export interface TableSplit extends Split {
  readonly runs: readonly number[];
}

/** Pages are sparse. */
const bytesPerSplit = 2 * defaultSplitBytes;
/** Of a leaf, the pages up to the next one count as its own, up to so many times the average. */
const maxLeafShare = 8;

/**
 * The pieces of a table. Only the pages above the leaves are read for it; what rows have in further pages is guessed by
 * the distance of one leaf to the next, between which they stand in a file that was written in one go.
 */
export async function* planTableSplits(database: Database, root: number): AsyncGenerator<TableSplit> {
  const leaves: number[] = [];
  for await (const some of readLeaves(database.pages, root, (error) => database.pass(error))) leaves.push(...some);
  yield* cutIntoSplits(leaves, database.pages);
}

function* cutIntoSplits(leaves: readonly number[], pages: DatabasePages): Generator<TableSplit> {
  const { pageSize } = pages.header;
  const average = pages.count / leaves.length;
  const most = Math.max(1, Math.ceil(average * maxLeafShare));
  let runs: number[] = [];
  let weight = 0;
  for (let i = 0; i < leaves.length; i++) {
    const leaf = leaves[i]!;
    const gap = (leaves[i + 1] ?? leaf + 1) - leaf;
    const last = runs.length - 2;
    if (last >= 0 && runs[last]! + runs[last + 1]! === leaf) runs[last + 1]!++;
    else runs.push(leaf, 1);
    weight += gap > 0 ? Math.min(gap, most) : 1;
    if (weight * pageSize < bytesPerSplit && i < leaves.length - 1) continue;
    yield { bytes: weight * pageSize, runs };
    runs = [];
    weight = 0;
  }
}

function* leafPages({ runs }: TableSplit): Generator<number> {
  for (let r = 0; r < runs.length; r += 2) for (let n = 0; n < runs[r + 1]!; n++) yield runs[r]! + n;
}

/** The batches of one piece; `alone` where its records are counted from 1, rather than from the end of the one before. */
export async function* readSplit(
  database: Database,
  split: TableSplit,
  builder: BatchBuilder,
  alone: boolean,
): AsyncGenerator<Batch> {
  const reader = database.takeReader();
  try {
    yield* readLeafBatches(database, reader, leafPages(split), builder);
  } finally {
    database.returnReader(reader);
  }
  const batch = builder.take();
  if (batch) yield batch;
  if (alone) builder.end();
}

async function* readLeafBatches(
  database: Database,
  reader: RowReader,
  leaves: Iterable<number>,
  builder: BatchBuilder,
): AsyncGenerator<Batch> {
  for (const leaf of leaves) {
    try {
      const more = reader.open(leaf);
      if (more) await more;
    } catch (error) {
      database.pass(error, true);
      continue;
    }
    for (let i = 0; i < reader.count; i++) {
      try {
        const more = reader.read(i);
        if (more) await more;
        if (!builder.add(reader.row)) throw database.pages.damage(leaf, `row ${i + 1} on it contradicts itself`);
      } catch (error) {
        database.pass(error, true);
        continue;
      }
      if (!builder.isFull) continue;
      const batch = builder.take();
      if (batch) yield batch;
    }
    const { contradiction } = reader;
    if (contradiction) database.pass(contradiction, true);
  }
}
