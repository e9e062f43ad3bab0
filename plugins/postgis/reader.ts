import type { Dataset, Layer, Split } from "../../src/model/index.js";
import type { OptionValues, ReadContext, Source } from "../../src/plugin/index.js";
import { Connection } from "./connection/connection.js";
import { readError } from "./connection/errors.js";
import { type ConnectionSettings, resolveSettings } from "./connection/settings.js";
import type { readOptions } from "./index.js";
import { readLayerPlans } from "./read/catalog.js";
import { type DatabasePlan, type LayerPlan, layerInfoOf } from "./read/layer-plan.js";
import { type PageRange, readBatches } from "./read/read-rows.js";

export type ReadOptions = OptionValues<typeof readOptions>;

/** Size of a split of a table. */
const tableSplitBytes = 1 << 22;

interface TableSplit extends Split {
  readonly range: PageRange;
}

function* planSplits({ pages, bytes }: LayerPlan): Generator<TableSplit> {
  if (pages === null || pages === 0) return;
  const pageBytes = bytes / pages;
  const step = Math.max(1, Math.round(tableSplitBytes / pageBytes));
  for (let first = 0; first < pages; first += step) {
    const end = Math.min(pages, first + step);
    yield { bytes: (end - first) * pageBytes, range: [first, end] };
  }
}

/** Opens a connection and exports its snapshot, if the server supports that. */
async function openSnapshot(name: string, settings: ConnectionSettings, signal: AbortSignal) {
  const mode = { reads: true, snapshot: null } as const;
  const connection = await Connection.open(name, settings, mode, signal);
  try {
    const [row] = await connection.rows<{ snapshot: string }>("SELECT pg_export_snapshot() AS snapshot");
    return { connection, snapshot: row!.snapshot };
  } catch {
    // Snapshots cannot be exported in a savepoint, so the failure aborted the transaction.
    await connection.close();
    return { connection: await Connection.open(name, settings, mode, signal), snapshot: null };
  }
}

class PostgisDataset implements Dataset {
  readonly layers: readonly Layer[];

  constructor(
    private readonly name: string,
    private readonly connection: Connection,
    readonly scanResult: DatabasePlan,
    private readonly context: ReadContext,
    private readonly stop: () => void,
  ) {
    this.layers = scanResult.layers.map((plan) => this.layer(plan));
  }

  private layer(plan: LayerPlan): Layer {
    const isSplit = this.scanResult.snapshot !== null && plan.pages !== null;
    return {
      ...layerInfoOf(plan),
      bytes: plan.bytes,
      ...(isSplit
        ? {
            async *splits() {
              yield* planSplits(plan);
            },
          }
        : {}),
      batches: (split?: Split) => this.batches(plan, split as TableSplit | undefined),
    };
  }

  private async *batches(plan: LayerPlan, split: TableSplit | undefined) {
    try {
      yield* readBatches(this.connection, plan, split?.range ?? null, { name: this.name, context: this.context });
    } catch (error) {
      if (this.context.signal.aborted) throw error;
      throw readError(this.name, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.connection.close();
  }
}

/** @throws usage, database-… */
export async function open(source: Source, options: ReadOptions, context: ReadContext): Promise<Dataset> {
  const known = context.scanResult as DatabasePlan | undefined;
  const settings = resolveSettings(source.path, process.env);
  const { connection, snapshot } = known
    ? { connection: await Connection.open(source.name, settings, { reads: true, ...known }, context.signal), ...known }
    : await openSnapshot(source.name, settings, context.signal);
  const cancel = () => void connection.cancel();
  context.signal.addEventListener("abort", cancel);
  const stop = () => context.signal.removeEventListener("abort", cancel);
  try {
    const plan = known ?? { layers: await readLayerPlans(connection, options, context), snapshot };
    return new PostgisDataset(source.name, connection, plan, context, stop);
  } catch (error) {
    stop();
    await connection.close();
    if (context.signal.aborted) throw error;
    throw readError(source.name, error);
  }
}
