import type { Batch, Dataset, Feature, Field, Layer, Split, SplitFilter } from "../../src/model/index.js";
import type { OptionValues, ReadContext, Source } from "../../src/plugin/index.js";
import { type DocumentRange, DocumentSpool, readRange } from "../shared/document-spool.js";
import type { GmlElement } from "./gml/element.js";
import { FeatureBatches } from "./gml/feature-batches.js";
import { LayerScan } from "./gml/layer-scan.js";
import type { GmlLayerPlan } from "./gml/plan.js";
import { crsKeyOf, noSystem, systemNameOf } from "./gml/scan-document.js";
import { type ReferenceSystem, resolveSrsName } from "./gml/srs-name.js";
import type { wfsOptions } from "./index.js";
import { downloadCompletely, type Page, type PageStore, PagesIncomplete } from "./service/complete-download.js";
import { downloadSettings, requireSecondPass } from "./service/download-options.js";
import { createOgcClient, type OgcClient, RequestRefused } from "./service/service-client.js";
import { WfsPages, type WfsQuery } from "./wfs/feature-pages.js";
import { decodeJson } from "./wfs/json-batches.js";
import { JsonStore, parseSpooled, quietContext, sampleJson } from "./wfs/json-layer.js";
import { type JsonForm, jsonFormatIn, jsonPages } from "./wfs/json-pages.js";
import { readLayerList, refuseOtherSystem, type WfsLayer, type WfsList } from "./wfs/layer-list.js";
import { gmlPages } from "./wfs/page-format.js";
import { type GmlPage, parsePage } from "./wfs/page-parser.js";
import { isPageSwapped, negotiate } from "./wfs/selection.js";

export type WfsOptions = OptionValues<typeof wfsOptions>;

/** What is needed to decode the pages of a layer. Plain data. */
interface PagesPlan {
  readonly layer: GmlLayerPlan;
  readonly systems: readonly ReferenceSystem[];
}

/** A page in the temporary file of a layer, or a number of features of GeoJSON. */
interface PageSplit extends Split, DocumentRange {
  readonly path: string;
  readonly plan: PagesPlan | JsonForm;
}

/** Features to compare in both formats. */
const sampleSize = 10;

/** Opens a WFS 1.1.0 or 2.0.0. @throws usage, feature-service-… and what the host's client throws */
export async function open(source: Source, options: WfsOptions, context: ReadContext): Promise<Dataset> {
  requireSecondPass(options);
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
        let records = 0;
        for await (const part of split ? [split as PageSplit] : splits()) {
          const { plan } = part;
          const bytes = (fetched as Buffer | undefined) ?? (await readRange(part.path, part));
          if ("outputFormat" in plan) {
            const features = parseSpooled(client.source, bytes);
            yield* decodeJson(features, declaredFields(layer), plan.isNorthFirst, records + 1, context);
            records += features.length;
            continue;
          }
          batches ??= new FeatureBatches(plan.layer, plan.systems, context, layer.fields !== null);
          yield* decodePage(client.source, bytes, batches, context);
          ({ records } = batches);
        }
        context.splitFinished(records, 0);
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
    const form = options.format === "json" ? await this.chooseJson(selected) : null;
    const path = await context.createTemporaryPath(`${this.downloadCount++}.${form ? "json" : "gml"}`);
    const settings = { ...downloadSettings(client, options), layer: layer.name };
    const toSplit = (range: DocumentRange, plan: PagesPlan | JsonForm) => ({
      ...{ ...range, path, plan, bytes: range.end - range.start },
    });
    if (form) {
      const pages = new WfsPages(client, selected, jsonPages(form.outputFormat, form.crs), context);
      const openStore = () => JsonStore.create(path);
      const store = await downloadCompletely(pages, { ...settings, selection: pages.first, openStore }, context);
      return store.ranges.map((range) => toSplit(range, form));
    }
    const pages = new WfsPages(client, selected, gmlPages(layer.typeName), context);
    const openStore = () => this.openGmlStore(path);
    const store = await downloadCompletely(pages, { ...settings, selection: pages.first, openStore }, context);
    store.reportLeftOut();
    const plan = store.plan();
    return store.spool.ranges.map((range) => toSplit(range, plan));
  }

  private async openGmlStore(path: string): Promise<GmlStore> {
    const { client, layer, options, context } = this;
    return new GmlStore(client.source, layer, options, context, await DocumentSpool.create(path));
  }

  /** The form of GeoJSON, if some features are the same in it as in GML; else reports why not. */
  private async chooseJson(selected: WfsQuery): Promise<JsonForm | null> {
    const { layer, list, context } = this;
    const outputFormat = jsonFormatIn([...layer.formats, ...list.capabilities.formats]);
    const found =
      outputFormat === null
        ? "the service does not offer it"
        : layer.fields === null
          ? "the service declares no fields with simple types"
          : await this.compareFormats(
              selected,
              outputFormat,
              layer.fields.map(({ field }) => field),
            );
    if (typeof found !== "string") return found;
    context.reportNotice("json-not-used", undefined, `"${layer.name}" was read as GML: ${found}`);
    return null;
  }

  private async compareFormats(
    selected: WfsQuery,
    outputFormat: string,
    fields: readonly Field[],
  ): Promise<JsonForm | string> {
    const { client, context } = this;
    const query = { ...selected, pageSize: sampleSize };
    try {
      const page = await new WfsPages(client, query, gmlPages(query.typeName), context).sample();
      const store = await this.openGmlStore(await context.createTemporaryPath(`${this.downloadCount++}.sample.gml`));
      await store.append(page);
      await store.close();
      const plan = store.plan();
      const batches = new FeatureBatches(plan.layer, plan.systems, quietContext, true);
      const expected: Feature[] = [];
      for await (const batch of decodePage(client.source, page.content.body, batches, context))
        expected.push(...batch.features());
      const json = await new WfsPages(client, query, jsonPages(outputFormat), context).sampleBody();
      return sampleJson(client.source, json, outputFormat, fields, expected);
    } catch (error) {
      if (error instanceof RequestRefused || error instanceof PagesIncomplete) return error.message;
      throw error;
    }
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
      if (feature === content.features[0]?.[0] && name !== null) await this.checkAxes(feature, this.systems.get(name)!);
      if (this.layer.fields === null) this.scan.add(feature);
    }
    this.leftOut.push(...content.leftOut);
    await this.spool.append(content.body);
  }

  /** @throws PagesIncomplete for a page whose axes are in another order */
  private async checkAxes(feature: GmlElement, system: ReferenceSystem): Promise<void> {
    const { layer, options, context } = this;
    if (options.axisOrder !== "auto" || context.swapsXy) return;
    if (await isPageSwapped(layer, feature, system, context))
      throw new PagesIncomplete("a page has coordinates that are plausible only after swapping the axes");
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

  reportLeftOut(): void {
    for (const element of this.leftOut)
      this.context.reportLoss("element-left-out", undefined, `${element}, beside the features`);
  }

  plan(): PagesPlan {
    const { layer, options, systems } = this;
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

/** The fields of a layer that is read as GeoJSON. */
const declaredFields = ({ fields }: WfsLayer): Field[] => fields?.map(({ field }) => field) ?? [];

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
