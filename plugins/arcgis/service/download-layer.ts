/** Downloads the features of a layer, and proves that they are all of them. */
import { createError, type GeoferryError, type ReadContext } from "../../../src/plugin/index.js";
import type { FeatureSpool, SpooledFeatures } from "../../shared/json/feature-spool.js";
import { isObject, type Json } from "../../shared/json/values.js";
import { type NextRequest, ReadAhead } from "../../shared/read-ahead.js";
import { spatialReferenceKey } from "../fields/spatial-reference.js";
import type { ServiceLayer } from "./layer-list.js";
import { describeChange, type LayerState, readLayerState, toObjectId } from "./layer-state.js";
import type { Selection } from "./query-filter.js";
import { RequestRefused, type ServiceClient } from "./service-client.js";

/** How often a layer is read that changes meanwhile. */
const maxAttempts = 3;
/** How often features that a page lacks are asked for by their ids. */
const maxRepairs = 3;
/** How often in a row a smaller page is tried after the service was unavailable, each time for all retries. */
const maxUnavailable = 3;
/** Ids of one request. */
const maxIdsPerRequest = 500;

export interface DownloadOptions {
  /** Most features of a page; null for what the service allows. */
  readonly pageSize: number | null;
  /** Most requests for pages at once. */
  readonly parallel: number;
  /** Called with the number of features so far. */
  readonly onProgress: (features: number) => void;
}

/** Where a download is written. */
export interface DownloadPlace {
  /** Opens the file: at its beginning, or after what was downloaded of the same features before. */
  open(state: LayerState): Promise<FeatureSpool>;
  /** Saves how far the download is. */
  save?(spool: FeatureSpool): Promise<void>;
}

/** A layer that was downloaded completely, with its object ids if it has any. */
export interface DownloadedLayer extends SpooledFeatures {
  readonly ids: Float64Array | null;
}

/** Features that the layer listed did not come, or it changed: the states before and after decide. */
class MissingFeatures extends Error {}

/**
 * Downloads the selected features into a file, ascending by object id, each once. The ids before and after the download
 * must be those that were read; else the layer changed, and is read again.
 * @throws feature-service-incomplete, feature-service-changed, feature-service-refused, feature-service-forbidden,
 * unsupported, and what the host's client throws
 */
export async function downloadLayer(
  client: ServiceClient,
  layer: ServiceLayer,
  selection: Selection,
  place: DownloadPlace,
  options: DownloadOptions,
  context: ReadContext,
): Promise<DownloadedLayer> {
  const { source } = client;
  for (let tries = 1; ; tries++) {
    const before = await readLayerState(client, layer, selection);
    const spool = await place.open(before);
    let missing: string | null = null;
    try {
      await new LayerDownload(client, layer, selection, before, spool, place, options, context).run();
    } catch (error) {
      if (!(error instanceof MissingFeatures)) {
        await spool.close();
        throw error;
      }
      missing = error.message;
    }
    const spooled = await spool.finish();
    const change = describeChange(before, await readLayerState(client, layer, selection));
    if (change === null && missing === null) return { ...spooled, ids: before.ids };
    if (change === null) throw createError("feature-service-incomplete", { source, reason: missing! });
    if (tries === maxAttempts) throw createError("feature-service-changed", { source, reason: change, tries });
    context.reportNotice("layer-changed", undefined, `${change} while the layer was read, so it was read again`);
  }
}

/** By position in the order of the ids, by the least and greatest id, or by all ids. */
type Paging = "offset" | "range" | "ids";

class LayerDownload {
  private pageSize: number;
  /** Ways to ask for a page, of which the first is used until the service refuses it. */
  private readonly pagings: Paging[];
  private done = 0;
  /** Pages in a row for which the service was unavailable. */
  private unavailable = 0;
  private readonly ahead: ReadAhead<Json>;

  constructor(
    private readonly client: ServiceClient,
    private readonly layer: ServiceLayer,
    private readonly selection: Selection,
    private readonly state: LayerState,
    private readonly spool: FeatureSpool,
    private readonly place: DownloadPlace,
    private readonly options: DownloadOptions,
    private readonly context: ReadContext,
  ) {
    const { pageSize, parallel } = options;
    this.ahead = new ReadAhead(parallel);
    this.pageSize = Math.min(layer.maxRecordCount, pageSize ?? layer.maxRecordCount);
    this.done = spool.records;
    this.pagings = layer.supportsPagination ? ["offset", "range", "ids"] : ["range", "ids"];
  }

  /** @throws MissingFeatures and as `downloadLayer` does */
  async run(): Promise<void> {
    const { ids } = this.state;
    try {
      if (ids === null) await this.readOnePage();
      else await this.readPages(ids);
    } catch (error) {
      throw error instanceof RequestRefused ? this.client.refused(error) : error;
    } finally {
      await this.ahead.close();
    }
  }

  private async readPages(ids: Float64Array): Promise<void> {
    while (this.done < ids.length) {
      this.context.signal.throwIfAborted();
      await this.readPage(ids);
      await this.place.save?.(this.spool);
      this.options.onProgress(this.done);
    }
  }

  /** A layer without object ids is complete only if one answer has all of it. */
  private async readOnePage(): Promise<void> {
    const { client, layer, selection, state } = this;
    const answer = await this.query(selection);
    const features = featuresOf(answer);
    if (answer.exceededTransferLimit === true || (state.count > features.length && state.count > layer.maxRecordCount))
      throw createError("unsupported", {
        source: client.source,
        reason: `the layer "${layer.name}" has no object ids and more features than the service sends at once, so that no client can read all of them`,
      });
    if (features.length !== state.count)
      throw new MissingFeatures(`it counts ${state.count} features and sends ${features.length}`);
    await this.spool.append(features);
    this.done = features.length;
  }

  /** Reads the next features by `ids`; fewer than a page where the service sends fewer. */
  private async readPage(ids: Float64Array): Promise<void> {
    const wanted = ids.subarray(this.done, this.done + this.pageSize);
    let found: Map<number, Json>;
    try {
      const answer = await this.ahead.get(this.pageRequest(ids, this.done), () => this.following(ids));
      found = this.byId(featuresOf(answer));
      this.unavailable = 0;
      const sent = prefixLength(wanted, found);
      if (sent === wanted.length || (answer.exceededTransferLimit === true && sent > 0 && sent === found.size)) {
        // The service sends fewer features at once than it says: where these are large, for instance.
        if (sent < wanted.length) this.changePageSize(Math.max(sent, Math.ceil(this.pageSize / 4)));
        await this.append(wanted.subarray(0, sent), found);
        return;
      }
    } catch (error) {
      this.easeRequest(error, wanted.length);
      return;
    }
    await this.repair(wanted, found);
    await this.append(wanted, found);
  }

  /**
   * After a failure, the next request asks in another way, or for half as much: the page may be too large for the service.
   * @throws the error, if nothing is left to try
   */
  private easeRequest(error: unknown, length: number): void {
    if (error instanceof RequestRefused) {
      if (this.pagings.length > 1) this.pagings.shift();
      else if (length === 1) throw error;
      else this.pageSize = Math.ceil(length / 2);
    } else if (isUnavailable(error) && ++this.unavailable <= maxUnavailable) this.pageSize = Math.ceil(length / 2);
    else throw error;
    this.ahead.drop();
  }

  /** Pages that were requested ahead begin at other features then. */
  private changePageSize(size: number): void {
    this.pageSize = size;
    this.ahead.drop();
  }

  /** A request for the page that begins with the id at an index. */
  private pageRequest(ids: Float64Array, from: number): NextRequest<Json> {
    const parameters = this.pageParameters(ids.subarray(from, from + this.pageSize), from);
    return { key: JSON.stringify(parameters), send: () => this.query(parameters) };
  }

  private *following(ids: Float64Array): Generator<NextRequest<Json>> {
    for (let from = this.done + this.pageSize; from < ids.length; from += this.pageSize)
      yield this.pageRequest(ids, from);
  }

  private pageParameters(wanted: Float64Array, from: number): Readonly<Record<string, string>> {
    const { layer, selection, pagings } = this;
    const { idField } = layer;
    if (pagings[0] === "ids") return { objectIds: wanted.join(",") };
    if (pagings[0] === "offset")
      return {
        ...selection,
        orderByFields: idField!,
        resultOffset: String(from),
        resultRecordCount: String(wanted.length),
      };
    const range = `${idField} >= ${wanted[0]} AND ${idField} <= ${wanted.at(-1)}`;
    return { ...selection, where: selection.where === "1=1" ? range : `(${selection.where}) AND ${range}` };
  }

  /** Gets the wanted features that a page lacks by their ids. @throws MissingFeatures */
  private async repair(wanted: Float64Array, found: Map<number, Json>): Promise<void> {
    for (let tries = 1; ; tries++) {
      const missing = [...wanted].filter((id) => !found.has(id));
      if (missing.length === 0) return;
      if (tries > maxRepairs) {
        const some = `${missing.slice(0, 5).join(", ")}${missing.length > 5 ? " …" : ""}`;
        throw new MissingFeatures(`it lists the object ids ${some} and does not send their features`);
      }
      const size = Math.min(maxIdsPerRequest, this.pageSize);
      for (let from = 0; from < missing.length; from += size) {
        const objectIds = missing.slice(from, from + size).join(",");
        const answer = await this.query({ objectIds });
        for (const [id, feature] of this.byId(featuresOf(answer))) found.set(id, feature);
      }
    }
  }

  private async query(parameters: Readonly<Record<string, string>>): Promise<Json> {
    const { client, layer } = this;
    const dimensions = { ...(layer.hasZ && { returnZ: "true" }), ...(layer.hasM && { returnM: "true" }) };
    const asked = { ...parameters, outFields: "*", returnGeometry: "true", ...dimensions };
    const answer = await client.query(`/${layer.id}/query`, asked, ({ code, example, count }) =>
      this.context.reportLoss(code, undefined, example, count),
    );
    if (!Array.isArray(answer.features)) throw new RequestRefused({ code: 0, message: "its response has no features" });
    this.checkReference(answer);
    for (const { geometry } of featuresOf(answer)) if (isObject(geometry)) this.checkReference(geometry);
    return answer;
  }

  /** The coordinates of a page or a geometry must be in the reference system for which the conversion was planned. */
  private checkReference({ spatialReference }: Json): void {
    const { layer, client, context } = this;
    const sent = spatialReferenceKey(spatialReference);
    if (sent === "" || sent === layer.referenceKey || context.requestedCrs) return;
    const declared = layer.referenceKey === "" ? "declares none" : `declares ${layer.referenceKey.slice(0, 80)}`;
    throw createError("unsupported", {
      source: client.source,
      reason: `the layer "${layer.name}" ${declared}, but its features are in ${sent.slice(0, 80)}; name that with --source-crs`,
    });
  }

  /** The features by their object ids. @throws feature-service-incomplete if one has none */
  private byId(features: readonly Json[]): Map<number, Json> {
    const { idField } = this.layer;
    const found = new Map<number, Json>();
    for (const feature of features) {
      const id = objectIdOf(feature, idField!);
      if (id === null) throw this.incomplete(`a feature has no object id in "${idField}"`);
      if (!found.has(id)) found.set(id, feature);
    }
    return found;
  }

  private incomplete(reason: string): GeoferryError {
    return createError("feature-service-incomplete", { source: this.client.source, reason });
  }

  private async append(ids: Float64Array, found: ReadonlyMap<number, Json>): Promise<void> {
    await this.spool.append([...ids].map((id) => found.get(id)!));
    this.done += ids.length;
  }
}

const isUnavailable = (error: unknown): boolean => (error as Partial<GeoferryError>).code === "input-unavailable";

const featuresOf = ({ features }: Json): Json[] => (features as unknown[]).filter(isObject);

/** How many of the first wanted ids were found without a gap. */
function prefixLength(wanted: Float64Array, found: ReadonlyMap<number, Json>): number {
  let length = 0;
  while (length < wanted.length && found.has(wanted[length]!)) length++;
  return length;
}

function objectIdOf({ attributes }: Json, field: string): number | null {
  if (!isObject(attributes)) return null;
  if (Object.hasOwn(attributes, field)) return toObjectId(attributes[field]);
  const name = Object.keys(attributes).find((each) => each.toLowerCase() === field.toLowerCase());
  return name === undefined ? null : toObjectId(attributes[name]);
}
