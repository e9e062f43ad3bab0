import type { Batch, Split } from "../../../src/model/index.js";
import { defaultSplitBytes } from "../../shared/split-size.js";
import type { Database } from "../sqlite/database.js";
import type { DatabasePages } from "../sqlite/pages.js";
import type { RowReader } from "../sqlite/row-reader.js";
import { readLeaves } from "../sqlite/tree.js";
import type { BatchBuilder } from "./batch-builder.js";
import type { LayerPlan } from "./layer-plan.js";
import { RowsKernel } from "./rows-kernel.js";

/** Leaf pages of a table as runs: pairs of first page number and page count. */
export interface TableSplit extends Split {
  readonly runs: readonly number[];
}

/** Twice the default, since pages are only partly filled. */
const bytesPerSplit = 2 * defaultSplitBytes;
/** Cap on the pages attributed to one leaf, as a multiple of the average. */
const maxLeafShare = 8;

/**
 * Divides a table into splits. Reads interior pages only; the size of overflow pages is estimated from the distance
 * between leaves, which they fill in a file that was written sequentially.
 */
export async function* planTableSplits(database: Database, root: number): AsyncGenerator<TableSplit> {
  const leaves: number[] = [];
  for await (const some of readLeaves(database.pages, root, (error) => database.skipDamage(error)))
    leaves.push(...some);
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

/** Reads one split. `alone`: record numbers start at 1, instead of continuing from the previous split. */
export async function* readSplit(
  database: Database,
  split: TableSplit,
  plan: LayerPlan,
  builder: BatchBuilder,
  alone: boolean,
): AsyncGenerator<Batch> {
  const reader = database.takeReader();
  builder.kernel = RowsKernel.acquire(plan, database.pages.header);
  try {
    yield* readLeafBatches(database, reader, leafPages(split), builder);
    const batch = builder.take();
    if (batch) yield batch;
  } finally {
    database.returnReader(reader);
    builder.kernel?.release();
    builder.kernel = null;
  }
  if (alone) builder.endSplit();
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
      database.skipDamage(error, true);
      continue;
    }
    for (let i = 0; i < reader.count; ) {
      i = builder.addPage(reader, i);
      if (i < reader.count && !builder.isFull) {
        try {
          const more = reader.read(i++);
          if (more) await more;
          if (!builder.add(reader.row)) throw database.pages.damage(leaf, `row ${i} is malformed`);
        } catch (error) {
          database.skipDamage(error, true);
        }
      }
      const batch = builder.isFull ? builder.take() : null;
      if (batch) yield batch;
    }
    const { contradiction } = reader;
    if (contradiction) database.skipDamage(contradiction, true);
  }
}
