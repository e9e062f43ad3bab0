import { type Extent, type LayerSummary, Summarizer } from "../../../src/model/index.js";
import type { Database } from "../sqlite/database.js";
import { SqliteDamage } from "../sqlite/pages.js";
import type { SqliteRow } from "../sqlite/row-reader.js";
import { readLeaves } from "../sqlite/tree.js";
import { BatchBuilder } from "./batch-builder.js";
import { GeometryTypeDecoder } from "./geometry-type-decoder.js";
import type { LayerPlan } from "./layer-plan.js";
import { TableStats } from "./table-stats.js";

/** What there is to tell is told by the reading that follows. */
const silentContext = { keepsBadGeometries: true, reportLoss() {}, reportNotice() {}, reject() {}, splitFinished() {} };

type TablePlan = LayerPlan & { root: number };

/**
 * What the features of a table say together, of lines and polygons by their heads alone, which is most of the work
 * spared. Null where that does not tell it: for points, collections, curves, heights and measures, without a reference
 * system (its id follows from the extent), and in a damaged file.
 * @param within points alone are told, too, with their box, where all are in this; null where they are not to be
 */
export async function summarizeTable(
  database: Database,
  plan: TablePlan,
  within: Extent | null,
): Promise<LayerSummary | null> {
  if (plan.geometryColumn === null || plan.crs === null) return null;
  const summary = (await summarizeFromStats(database, plan, within)) ?? (await summarizeFromBatches(database, plan));
  return summary && summary.featureCount > 0 ? summary : null;
}

/** From the values as they stand; null where they must be converted. */
async function summarizeFromStats(
  database: Database,
  plan: TablePlan,
  within: Extent | null,
): Promise<LayerSummary | null> {
  const gauge = TableStats.of(plan, database.encoding, within);
  const all = gauge && (await forEveryRow(database, plan.root, (row) => gauge.add(row)));
  return gauge && all ? gauge.summary() : null;
}

/** From batches without positions. */
async function summarizeFromBatches(database: Database, plan: TablePlan): Promise<LayerSummary | null> {
  const heads = new GeometryTypeDecoder({ srsId: plan.srsId, context: silentContext });
  const builder = new BatchBuilder(plan, database.encoding, silentContext, heads);
  const summariser = new Summarizer(false);
  const addBatch = () => {
    const batch = builder.take();
    if (batch) summariser.add(batch);
  };
  const all = await forEveryRow(database, plan.root, (row) => {
    if (!builder.add(row) || !heads.tellsAll) return false;
    if (builder.isFull) addBatch();
    return true;
  });
  addBatch();
  return all ? summariser.summary() : null;
}

/** Gives all rows to `add`. @returns false where it refuses one, or the file is damaged */
async function forEveryRow(database: Database, root: number, add: (row: SqliteRow) => boolean): Promise<boolean> {
  const reader = database.takeReader();
  try {
    for await (const leaves of readLeaves(database.pages, root, rethrow)) {
      for (const leaf of leaves) {
        const opening = reader.open(leaf);
        if (opening) await opening;
        for (let i = 0; i < reader.count; i++) {
          const more = reader.read(i);
          if (more) await more;
          if (!add(reader.row)) return false;
        }
      }
    }
    return true;
  } catch (error) {
    if (error instanceof SqliteDamage) return false;
    throw error;
  } finally {
    database.returnReader(reader);
  }
}

function rethrow(error: unknown): never {
  throw error;
}
