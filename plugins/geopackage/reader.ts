import type { Dataset, Layer, Split } from "../../src/model/index.js";
import { createError, type OptionValues, type ReadContext, type Source } from "../../src/plugin/index.js";
import type { readOptions } from "./index.js";
import { BatchBuilder } from "./read/batch-builder.js";
import { type GeoPackagePlan, type LayerPlan, layerInfoOf } from "./read/layer-plan.js";
import { planTableSplits, readSplit, type TableSplit } from "./read/table-splits.js";
import { summarizeTable } from "./read/table-summary.js";
import { readContents } from "./schema/read-contents.js";
import { isUnsupported, ViewLayers } from "./sql/view-layers.js";
import { Database } from "./sqlite/database.js";

export type ReadOptions = OptionValues<typeof readOptions>;

function createTableLayer(
  database: Database,
  plan: LayerPlan & { root: number },
  bytes: number,
  context: ReadContext,
): Layer {
  const splits = () => planTableSplits(database, plan.root);
  // Reused by the next split, with its buffers.
  let idle: BatchBuilder | null = null;
  return {
    ...layerInfoOf(plan),
    bytes,
    splits,
    summary: ({ unchangedExtent }) => summarizeTable(database, plan, unchangedExtent),
    async *batches(split?: Split) {
      const builder = (split && idle) ?? new BatchBuilder(plan, database.encoding, context);
      if (split) {
        idle = null;
        yield* readSplit(database, split as TableSplit, plan, builder, true);
        idle = builder;
      } else for await (const each of splits()) yield* readSplit(database, each, plan, builder, false);
    },
  };
}

/** Completes the plans of views with their columns, which only SQLite knows. Reports and omits views that fail. */
async function resolveViews(
  plans: readonly LayerPlan[],
  views: ViewLayers,
  context: ReadContext,
): Promise<LayerPlan[]> {
  const known: LayerPlan[] = [];
  let refused: unknown;
  for (const plan of plans) {
    try {
      known.push(plan.root === null ? await views.plan(plan) : plan);
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      refused = error;
      context.reportLoss("layer-unreadable", undefined, error.message);
    }
  }
  if (known.length === 0 && refused !== undefined) throw refused;
  return known;
}

const isTablePlan = (plan: LayerPlan): plan is LayerPlan & { root: number } => plan.root !== null;

/** @throws input-empty, input-corrupt, input-truncated, unsupported */
export async function open(source: Source, options: ReadOptions, context: ReadContext): Promise<Dataset> {
  const known = context.scanResult as GeoPackagePlan | undefined;
  const database = await Database.open(source, context, known?.header ?? null);
  try {
    const views = new ViewLayers(source, database, options, context);
    const found = known ? null : await readContents(database, views, context);
    const layers = known?.layers ?? (await resolveViews(found!.layers, views, context));
    if (layers.length === 0 && database.damage) throw database.damage;
    if (layers.length === 0) {
      const reason = "there is no table of features or attributes in it";
      throw createError("unsupported", { source: source.name, reason });
    }
    const scanResult: GeoPackagePlan = { header: database.pages.header, layers };
    const share = Math.ceil(source.size / layers.length);
    return {
      layers: layers.map((plan) =>
        isTablePlan(plan) ? createTableLayer(database, plan, share, context) : views.layer(plan),
      ),
      scanResult,
      ...(found && { omitted: found.omitted }),
      [Symbol.asyncDispose]: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw database.toInputError(error);
  }
}
