import type { Dataset, Layer, Split, SplitFilter } from "../../src/model/index.js";
import type { OptionValues, ReadContext, Source } from "../../src/plugin/index.js";
import { readRange } from "../shared/document-spool.js";
import { FeatureSpool, type SpooledFeatures } from "../shared/json/feature-spool.js";
import type { FeatureRange } from "../shared/json/structure-scanner.js";
import type { Json } from "../shared/json/values.js";
import { type Collection, type CollectionList, readCollections } from "./features/collections.js";
import { decodeItems } from "./features/item-batches.js";
import { ItemPages } from "./features/item-pages.js";
import { checkPlace, selectItems } from "./features/selection.js";
import type { featuresOptions } from "./index.js";
import { downloadCompletely, type Page, type PageStore } from "./service/complete-download.js";
import { downloadSettings, requireSecondPass } from "./service/download-options.js";
import { createOgcClient, type OgcClient } from "./service/service-client.js";

export type FeaturesOptions = OptionValues<typeof featuresOptions>;

/** A part of the temporary file of a collection. */
interface SpoolSplit extends Split, FeatureRange {
  readonly path: string;
}

/** Opens an OGC API – Features, or a collection of one. @throws usage, feature-service-… and what the host's client throws */
export async function open(source: Source, options: FeaturesOptions, context: ReadContext): Promise<Dataset> {
  requireSecondPass(options);
  const client = await createOgcClient(source, "oapif", options.rate, context);
  const list = (context.scanResult as CollectionList | undefined) ?? (await readCollections(client, context));
  return {
    layers: list.collections.map((each) => new RemoteCollection(client, each, options, context).toLayer()),
    omitted: list.omitted,
    scanResult: list,
    async [Symbol.asyncDispose]() {},
  };
}

class RemoteCollection {
  /** Downloads by their filters: the scan and the reading of a layer share one. */
  private readonly downloads = new Map<string, Promise<SpooledFeatures>>();
  private downloadCount = 0;

  constructor(
    private readonly client: OgcClient,
    private readonly collection: Collection,
    private readonly options: FeaturesOptions,
    private readonly context: ReadContext,
  ) {}

  toLayer(): Layer {
    const { collection, context, client } = this;
    const splits = (filter?: SplitFilter) => this.splits(filter);
    const { name, id, crs, featureCount, description, isNorthFirst } = collection;
    return {
      name,
      aliases: id === name ? [] : [id],
      crs,
      fields: null,
      geometryTypes: null,
      featureCount,
      extent: null,
      bytes: 0,
      ...(description !== null && { metadata: { description } }),
      hasLocalSplits: true,
      splits,
      prefetch: (split: Split) => readRange((split as SpoolSplit).path, split as SpoolSplit),
      async *batches(split?: Split, fetched?: unknown) {
        let firstRecord = 1;
        for await (const range of split ? [split as SpoolSplit] : splits()) {
          const bytes = (fetched as Buffer | undefined) ?? (await readRange(range.path, range));
          yield* decodeItems(client.source, bytes, firstRecord, isNorthFirst, context);
          firstRecord += range.records;
        }
        context.splitFinished(firstRecord - 1, 0);
      },
    };
  }

  private async *splits(filter?: SplitFilter): AsyncGenerator<SpoolSplit> {
    const key = JSON.stringify(filter ?? null, (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    const known = this.downloads.get(key) ?? this.download(filter);
    this.downloads.set(key, known);
    const { path, ranges } = await known;
    for (const range of ranges) yield { ...range, path, bytes: range.end - range.start };
  }

  private async download(filter: SplitFilter | undefined): Promise<SpooledFeatures> {
    const { client, collection, options, context } = this;
    const selection = await selectItems(client, collection, filter, context);
    const path = await context.createTemporaryPath(`${this.downloadCount++}.json`);
    const pages = new ItemPages(client, collection, selection, options.pageSize, (features) =>
      checkPlace(collection, features, context),
    );
    const store = await downloadCompletely(
      pages,
      {
        ...downloadSettings(client, options),
        ...{ layer: collection.name, selection: pages.first },
        openStore: async () => new ItemStore(await FeatureSpool.create(path)),
      },
      context,
    );
    return store.spooled!;
  }
}

class ItemStore implements PageStore<readonly Json[]> {
  spooled: SpooledFeatures | null = null;

  constructor(private readonly spool: FeatureSpool) {}

  append({ content }: Page<readonly Json[]>): Promise<void> {
    return this.spool.append(content);
  }

  async close(): Promise<void> {
    this.spooled = await this.spool.finish();
  }
}
