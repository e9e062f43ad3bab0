import { type LayerSummary, Summariser } from "../../src/model/index.js";
import { BatchBuilder } from "./batch-builder.js";
import type { Database } from "./database.js";
import { GeometryHeads } from "./geometry-heads.js";
import type { LayerPlan } from "./layer-plan.js";
import { SqliteDamage } from "./sqlite-pages.js";
import { RowReader } from "./sqlite-rows.js";
import { leavesOf } from "./sqlite-tree.js";

/** What there is to tell is told by the reading that follows. */
const silent = { lose() {}, notice() {}, reject() {}, passed() {} };

/**
 * What the features of a table say together, of lines and polygons by their heads alone, which is most of the work
 * spared. Null where that does not tell it: for points, collections, curves, heights and measures, without a reference
 * system (its id follows from the extent), and in a damaged file.
 */
export async function tableSummary(
  database: Database,
  plan: LayerPlan & { root: number },
): Promise<LayerSummary | null> {
  if (plan.geometryColumn === null || plan.crs === null) return null;
  const heads = new GeometryHeads({ srsId: plan.srsId, context: silent });
  const builder = new BatchBuilder(plan, database.encoding, silent, heads);
  const reader = new RowReader(database.pages);
  const summariser = new Summariser(false);
  const addBatch = () => {
    const batch = builder.take();
    if (batch) summariser.add(batch);
  };
  try {
    for await (const leaf of leavesOf(database.pages, plan.root, rethrow)) {
      await reader.open(leaf);
      for (let i = 0; i < reader.count; i++) {
        const more = reader.read(i);
        if (more) await more;
        if (!builder.add(reader.row) || !heads.tellsAll) return null;
        if (builder.isFull) addBatch();
      }
    }
  } catch (error) {
    if (error instanceof SqliteDamage) return null;
    throw error;
  }
  addBatch();
  const summary = summariser.summary();
  return summary.featureCount === 0 ? null : summary;
}

function rethrow(error: unknown): never {
  throw error;
}
