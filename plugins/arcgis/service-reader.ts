import type { Dataset, Layer, Split, SplitFilter } from "../../src/model/index.js";
import type { OptionValues, ReadContext, Source } from "../../src/plugin/index.js";
import { readRange } from "../shared/document-spool.js";
import { FeatureSpool } from "../shared/json/feature-spool.js";
import type { FeatureRange } from "../shared/json/structure-scanner.js";
import type { serviceOptions } from "./index.js";
import { FeatureBatches } from "./read/feature-batches.js";
import { parseAddress, redactAddress } from "./service/address.js";
import { countAttachments, downloadAttachments } from "./service/attachments.js";
import { type DownloadedLayer, type DownloadPlace, downloadLayer } from "./service/download-layer.js";
import { type LayerList, readLayerList, type ServiceLayer } from "./service/layer-list.js";
import type { Selection } from "./service/query-filter.js";
import { ResumableDownload } from "./service/resumable-download.js";
import { selectFeatures } from "./service/select-features.js";
import { ServiceClient } from "./service/service-client.js";
import { readCredentials, TokenSource } from "./service/tokens.js";

export type ServiceOptions = OptionValues<typeof serviceOptions>;

/** A part of the temporary file of a layer. */
interface SpoolSplit extends Split, FeatureRange {
  readonly path: string;
}

/** Opens a service, or a layer of one. @throws usage, feature-service-… and what the host's client throws */
export async function open(source: Source, options: ServiceOptions, context: ReadContext): Promise<Dataset> {
  const address = parseAddress(source.path);
  const name = redactAddress(source.name);
  const httpClient = await context.createHttpClient({ source: name, rate: options.rate });
  const tokens = new TokenSource(name, address, readCredentials(process.env), httpClient);
  const client = new ServiceClient(name, address, httpClient, tokens);
  const list = (context.scanResult as LayerList | undefined) ?? (await readLayerList(client, options, context));
  const layers = list.layers.map((layer) => new RemoteLayer(client, layer, options, context));
  return {
    layers: layers.map((layer) => layer.toLayer()),
    omitted: list.omitted,
    scanResult: list,
    async [Symbol.asyncDispose]() {
      for (const layer of layers) await layer.close();
    },
  };
}

class RemoteLayer {
  /** Downloads by their selections: the scan and the reading of a layer share one. */
  private readonly downloads = new Map<string, Promise<DownloadedLayer>>();
  private downloadCount = 0;
  private readonly kept: ResumableDownload[] = [];
  private readonly complete = new Set<DownloadPlace>();

  constructor(
    private readonly client: ServiceClient,
    private readonly layer: ServiceLayer,
    private readonly options: ServiceOptions,
    private readonly context: ReadContext,
  ) {}

  toLayer(): Layer {
    const { layer, context, client } = this;
    const { plan, name, id, featureCount, metadata } = layer;
    const batches = new FeatureBatches(client.source, plan, context);
    const splits = (filter?: SplitFilter) => this.splits(filter);
    return {
      name,
      aliases: [String(id)],
      crs: plan.crs,
      fields: plan.fields?.fields.map(({ field }) => field) ?? null,
      geometryTypes: plan.geometryTypes,
      featureCount,
      extent: null,
      bytes: 0,
      ...(metadata && { metadata }),
      hasLocalSplits: true,
      splits,
      prefetch: (split: Split) => rangeBytes(split as SpoolSplit),
      async *batches(split?: Split, fetched?: unknown) {
        let firstRecord = 1;
        for await (const range of split ? [split as SpoolSplit] : splits()) {
          const bytes = (fetched as Buffer | undefined) ?? (await rangeBytes(range));
          yield* batches.read(bytes, range.start, firstRecord);
          firstRecord += range.records;
        }
        context.splitFinished(firstRecord - 1, 0);
      },
    };
  }

  private async *splits(filter?: SplitFilter): AsyncGenerator<SpoolSplit> {
    const { path, ranges } = await this.download(filter);
    for (const range of ranges) yield { ...range, path, bytes: range.end - range.start };
  }

  private download(filter: SplitFilter | undefined): Promise<DownloadedLayer> {
    const key = JSON.stringify(filter ?? null, (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    const known = this.downloads.get(key) ?? this.startDownload(filter);
    this.downloads.set(key, known);
    return known;
  }

  private async startDownload(filter: SplitFilter | undefined): Promise<DownloadedLayer> {
    const { client, layer, options, context } = this;
    const selection = await selectFeatures(client, layer, filter);
    const number = this.downloadCount++;
    const onProgress = (features: number) => context.onDownload?.(features);
    const settings = { pageSize: options.pageSize ?? null, parallel: options.parallel, onProgress };
    const place = await this.openPlace(selection, number);
    const found = await downloadLayer(client, layer, selection, place, settings, context);
    this.complete.add(place);
    if (layer.hasAttachments && found.ids && number === 0) await this.attachments(found.ids);
    return found;
  }

  /** A temporary file; or one in the folder that keeps interrupted downloads. */
  private async openPlace(selection: Selection, number: number): Promise<DownloadPlace> {
    const { client, layer, options, context } = this;
    if (options.resume === undefined) {
      const path = await context.createTemporaryPath(`layer-${layer.id}-${number}.json`);
      return { open: () => FeatureSpool.create(path) };
    }
    const kept = new ResumableDownload(options.resume, `${client.address.service}/${layer.id}`, selection);
    await kept.lock();
    this.kept.push(kept);
    return kept;
  }

  /** Removes what need not be continued. */
  async close(): Promise<void> {
    for (const kept of this.kept) await kept.close(this.complete.has(kept));
  }

  private async attachments(ids: Float64Array): Promise<void> {
    const { client, layer, options, context } = this;
    if (options.attachments !== undefined) {
      const count = await downloadAttachments(client, layer, ids, options.attachments);
      const example = `attachments of "${layer.name}" are in ${options.attachments}`;
      if (count > 0) context.reportNotice("attachments-saved", undefined, example, count);
      return;
    }
    const count = await countAttachments(client, layer, ids);
    const example = `attachments of "${layer.name}" were left out; --in attachments=FOLDER downloads them`;
    if (count > 0) context.reportLoss("attachments-left-out", undefined, example, count);
  }
}

const rangeBytes = (split: SpoolSplit): Promise<Buffer> => readRange(split.path, split);
