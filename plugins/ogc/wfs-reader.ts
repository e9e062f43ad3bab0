import type { Batch, Dataset, Layer, Split, SplitFilter } from "../../src/model/index.js";
import type { OptionValues, ReadContext, Source } from "../../src/plugin/index.js";
import { type DocumentRange, DocumentSpool, readRange } from "../shared/document-spool.js";
import { FeatureBatches } from "./gml/feature-batches.js";
import { LayerScan } from "./gml/layer-scan.js";
import type { GmlLayerPlan } from "./gml/plan.js";
import { crsKeyOf, noSystem, systemNameOf } from "./gml/scan-document.js";
import { type ReferenceSystem, resolveSrsName } from "./gml/srs-name.js";
import type { wfsOptions } from "./index.js";
import { downloadCompletely, type Page, type PageStore } from "./service/complete-download.js";
import { createOgcClient, type OgcClient } from "./service/service-client.js";
import { WfsPages, type WfsQuery } from "./wfs/feature-pages.js";
import { readLayerList, refuseOtherSystem, type WfsLayer, type WfsList } from "./wfs/layer-list.js";
import { type GmlPage, parsePage } from "./wfs/page-parser.js";
import { negotiate } from "./wfs/selection.js";

export type WfsOptions = OptionValues<typeof wfsOptions>;

/** What is needed to decode the pages of a layer. Plain data. */
interface PagesPlan {
  readonly layer: GmlLayerPlan;
  readonly systems: readonly ReferenceSystem[];
}

/** A page in the temporary file of a layer. */
interface PageSplit extends Split, DocumentRange {
  readonly path: string;
  readonly plan: PagesPlan;
}

/** Opens a WFS 1.1.0 or 2.0.0. @throws usage, feature-service-… and what the host's client throws */
export async function open(source: Source, options: WfsOptions, context: ReadContext): Promise<Dataset> {
  const client = await createOgcClient(source, "wfs", options.rate, context);
  const list = (context.scanResult as WfsList | undefined) ?? (await readLayerList(client, options, context));
  return {
    layers: list.layers.map((layer) => new RemoteLayer(client, list, layer, options, context).toLayer()),
    scanResult: list,
    async [Symbol.asyncDispose]() {},
  };
}

class RemoteLayer {
  /** Downloads by their filters: the scan and the reading of a layer share one. */
  private readonly downloads = new Map<string, Promise<PageSplit[]>>();
  private downloadCount = 0;

  constructor(
    private readonly client: OgcClient,
    private readonly list: WfsList,
    private readonly layer: WfsLayer,
    private readonly options: WfsOptions,
    private readonly context: ReadContext,
  ) {}

  toLayer(): Layer {
    const { layer, context, client } = this;
    const splits = (filter?: SplitFilter) => this.splits(filter);
    return {
      name: layer.name,
      aliases: layer.typeName === layer.name ? [] : [layer.typeName],
      crs: layer.crs,
      fields: layer.fields?.map(({ field }) => field) ?? null,
      geometryTypes: layer.geometryTypes,
      featureCount: layer.featureCount,
      extent: null,
      bytes: 0,
      ...(layer.description !== null && { metadata: { description: layer.description } }),
      hasLocalSplits: true,
      splits,
      prefetch: (split: Split) => readRange((split as PageSplit).path, split as PageSplit),
      async *batches(split?: Split, fetched?: unknown) {
        let batches: FeatureBatches | null = null;
        for await (const part of split ? [split as PageSplit] : splits()) {
          const { plan } = part;
          batches ??= new FeatureBatches(plan.layer, plan.systems, context, layer.fields !== null);
          const bytes = (fetched as Buffer | undefined) ?? (await readRange(part.path, part));
          yield* decodePage(client.source, bytes, batches, context);
        }
        context.splitFinished(batches?.records ?? 0, 0);
      },
    };
  }

  private async *splits(filter?: SplitFilter): AsyncGenerator<PageSplit> {
    const key = JSON.stringify(filter?.boxes ?? null);
    const known = this.downloads.get(key) ?? this.download(filter);
    this.downloads.set(key, known);
    yield* await known;
  }

  private async download(filter: SplitFilter | undefined): Promise<PageSplit[]> {
    const { client, layer, options, context } = this;
    const { capabilities } = this.list;
    const base = new URL(capabilities.getFeature ?? client.base.href);
    for (const [key, value] of client.base.searchParams)
      if (!base.searchParams.has(key)) base.searchParams.append(key, value);
    const scalar = layer.properties?.filter(({ isGeometry, type }) => !isGeometry && type !== null) ?? [];
    const isKey = ({ name }: { name: string }) => /^(ogc_fid|fid|gid|id|objectid|uuid|gml_id)$/i.test(name);
    const query: WfsQuery = {
      ...{ base, version: capabilities.version, typeName: layer.typeName, srsName: null, bbox: null },
      ...{ hasPaging: capabilities.hasPaging, pageSize: options.pageSize },
      sortable: [...scalar.filter(isKey), ...scalar].map(({ name }) => name),
    };
    const selected = await negotiate(client, layer, query, filter, options.axisOrder, context);
    const path = await context.createTemporaryPath(`${this.downloadCount++}.gml`);
    const store = await downloadCompletely(
      new WfsPages(client, selected, context),
      {
        source: client.source,
        layer: layer.name,
        isSingleRead: options.singleRead,
        openStore: async () => new GmlStore(client.source, layer, options, context, await DocumentSpool.create(path)),
      },
      context,
    );
    const plan = store.plan();
    return store.spool.ranges.map((range) => ({ ...range, path, plan, bytes: range.end - range.start }));
  }
}

/** Keeps the pages of an attempt, and finds out what is needed to decode them. */
class GmlStore implements PageStore<GmlPage> {
  private readonly systems = new Map<string, ReferenceSystem>();
  private readonly scan: LayerScan;
  private readonly leftOut: string[] = [];

  constructor(
    private readonly source: string,
    private readonly layer: WfsLayer,
    private readonly options: WfsOptions,
    private readonly context: ReadContext,
    readonly spool: DocumentSpool,
  ) {
    const local = layer.typeName.replace(/^.*:/, "");
    // With declared fields, the decoder reports what they lack.
    const quiet = { reportLoss: () => undefined, reportNotice: () => undefined };
    this.scan = new LayerScan(local, null, true, layer.fields === null ? context : quiet);
    this.scan.place(layer.crs, layer.crs?.definition ?? "");
  }

  async append({ content }: Page<GmlPage>): Promise<void> {
    for (const [feature, collection] of content.features) {
      const name = systemNameOf(feature, collection, this.options.geometry);
      if (name !== null) await this.addSystem(name, content.isMapServer11);
      if (this.layer.fields === null) this.scan.add(feature);
    }
    this.leftOut.push(...content.leftOut);
    await this.spool.append(content.body);
  }

  /** @throws unsupported for another system than that of the layer */
  private async addSystem(srsName: string, isMapServer11: boolean): Promise<void> {
    if (this.systems.has(srsName)) return;
    const { layer, context, options } = this;
    const found =
      srsName === noSystem
        ? { srsName, crs: layer.crs, isNorthFirst: options.axisOrder === "yx" }
        : await resolveSrsName(srsName, orderOf(options, isMapServer11), context.crs);
    if (crsKeyOf(found) !== (layer.crs?.definition ?? found.srsName) && !context.requestedCrs)
      refuseOtherSystem(this.source, layer, found.crs?.id ?? srsName);
    this.systems.set(srsName, { ...found, crs: layer.crs });
  }

  close(): Promise<void> {
    return this.spool.close();
  }

  plan(): PagesPlan {
    const { layer, options, context, systems } = this;
    for (const element of this.leftOut)
      context.reportLoss("element-left-out", undefined, `${element}, beside the features`);
    const scanned = this.scan.plan(layer.name, layer.properties, options);
    const [first] = systems.values();
    const crsKey = layer.crs?.definition ?? first?.srsName ?? "";
    const plan: GmlLayerPlan =
      layer.fields === null
        ? { ...scanned, crsKey, hasIds: true }
        : { ...scanned, crsKey, hasIds: true, fields: layer.fields, geometryProperty: layer.geometryProperty };
    return { layer: plan, systems: [...systems.values()] };
  }
}

async function* decodePage(
  source: string,
  body: Buffer,
  batches: FeatureBatches,
  context: ReadContext,
): AsyncGenerator<Batch> {
  const { features } = await parsePage(source, body, context);
  for (const [feature, collection] of features) {
    batches.add(feature, collection);
    if (!batches.isFull) continue;
    const batch = batches.finish();
    if (batch) yield batch;
  }
  const batch = batches.finish();
  if (batch) yield batch;
}

const orderOf = ({ axisOrder }: WfsOptions, isMapServer11: boolean) =>
  axisOrder === "auto" && isMapServer11 ? "authority" : axisOrder;
