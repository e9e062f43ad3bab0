import { type Extent, Kind, type LayerSummary, Summarizer } from "../../../src/model/index.js";
import type { Database } from "../sqlite/database.js";
import { SqliteDamage } from "../sqlite/pages.js";
import type { RowReader, SqliteRow } from "../sqlite/row-reader.js";
import { readLeaves } from "../sqlite/tree.js";
import { BatchBuilder } from "./batch-builder.js";
import { findWkbStart } from "./geometry-blob.js";
import { GeometryDecoder } from "./geometry-decoder.js";
import type { LayerPlan } from "./layer-plan.js";
import { TableStats } from "./table-stats.js";

/** Discards issues: reading the layer afterwards reports them. */
const silentContext = { keepsBadGeometries: true, reportLoss() {}, reportNotice() {}, reject() {}, splitFinished() {} };

/** Decodes geometry types only: the geometries in its columns have no positions. */
class GeometryTypeDecoder extends GeometryDecoder {
  /** Whether types alone suffice: false as soon as there is a point, whose extent needs its coordinates. */
  isConclusive = true;

  protected override blob(bytes: Buffer, from: number, to: number): void {
    this.fault = null;
    const start = findWkbStart(bytes, from, to);
    const kind = typeof start === "string" ? null : this.wkb.flatKind(bytes, start, to);
    if (kind === null || kind === Kind.Point) this.isConclusive = false;
    this.builder.begin(kind ?? Kind.none);
    this.builder.end();
  }
}

type TablePlan = LayerPlan & { root: number };

/**
 * Summarizes a table without decoding coordinates: line and polygon types come from WKB headers. Returns null if that is
 * not enough: for points, collections, curves, heights and measures, a layer without a CRS (its srs_id depends on the
 * extent) and a damaged file.
 * @param within summarize layers of points too, if all points lie within this extent; null: do not
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

/** From encoded values; null if they must be decoded. */
async function summarizeFromStats(
  database: Database,
  plan: TablePlan,
  within: Extent | null,
): Promise<LayerSummary | null> {
  const stats = TableStats.of(plan, database.pages.header, within);
  const all = stats && (await forEveryLeaf(database, plan.root, (reader, leaf) => stats.addPage(reader, leaf)));
  return stats && all ? stats.summary() : null;
}

/** From decoded batches without positions. */
async function summarizeFromBatches(database: Database, plan: TablePlan): Promise<LayerSummary | null> {
  const heads = new GeometryTypeDecoder({ srsId: plan.srsId, context: silentContext });
  const builder = new BatchBuilder(plan, database.encoding, silentContext, heads);
  const summarizer = new Summarizer(false);
  const addBatch = () => {
    const batch = builder.take();
    if (batch) summarizer.add(batch);
  };
  const all = await forEveryRow(database, plan.root, (row) => {
    if (!builder.add(row) || !heads.isConclusive) return false;
    if (builder.isFull) addBatch();
    return true;
  });
  addBatch();
  return all ? summarizer.summary() : null;
}

/** Passes all rows to `add`. @returns false if `add` does, or if the file is damaged */
const forEveryRow = (database: Database, root: number, add: (row: SqliteRow) => boolean): Promise<boolean> =>
  forEveryLeaf(database, root, async (reader) => {
    for (let i = 0; i < reader.count; i++) {
      const more = reader.read(i);
      if (more) await more;
      if (!add(reader.row)) return false;
    }
    return true;
  });

/** Passes a reader with each leaf page to `add`. @returns false if `add` does, or if the file is damaged */
async function forEveryLeaf(
  database: Database,
  root: number,
  add: (reader: RowReader, leaf: number) => Promise<boolean>,
): Promise<boolean> {
  const reader = database.takeReader();
  try {
    for await (const leaves of readLeaves(database.pages, root, rethrow)) {
      for (const leaf of leaves) {
        const opening = reader.open(leaf);
        if (opening) await opening;
        if (!(await add(reader, leaf))) return false;
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
