/** `open(input)`: the layers of an input, each an async iterable of its features. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createError, type GeoferryError, type Place } from "../errors.js";
import { Spool } from "../io/input/spool.js";
import type { Feature } from "../model/batch.js";
import type { LayerInfo } from "../model/layer.js";
import { convert } from "../pipeline/convert.js";
import { openInputs } from "../pipeline/input/open-inputs.js";
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest, Host } from "../pipeline/request.js";
import { Channel } from "./channel.js";
import { checkOptions } from "./check-options.js";
import { createFeaturesFormat, featuresFormatId } from "./features-format.js";
import type { CallOptions } from "./host.js";
import { type Input, resolveInput } from "./resolve-input.js";
import { rewriteFlagsAsOptions, rewriteReport, toThrown, withLibraryErrors } from "./rewrite-messages.js";

/** A rejected feature with the reason. */
export interface RejectedFeature {
  /** The feature as far as it could be read. */
  readonly feature: Feature;
  /** Code of the reason, for programs. */
  readonly code: string;
  readonly reason: string;
  /** Record and line count from 1, bytes from 0. */
  readonly place: Place;
}

/** Options of `convert` about inputs and features, with the same names. */
export type TransformOptions = Pick<
  ConvertRequest,
  | "from"
  | "layers"
  | "sourceCrs"
  | "targetCrs"
  | "reproject"
  | "accuracy"
  | "grids"
  | "select"
  | "rename"
  | "cast"
  | "where"
  | "bbox"
  | "limit"
  | "geometryType"
  | "makeValid"
  | "swapXy"
  | "onBadGeometry"
  | "readerOptions"
  | "maxRejects"
  | "strict"
  | "skipErrors"
  | "maxInputBytes"
>;

export interface OpenOptions extends TransformOptions, Pick<CallOptions, "registry" | "signal" | "onProgress"> {
  /**
   * Called with each rejected feature after the last feature of its layer. Without it, an iteration with rejects throws
   * `features-rejected`, so that they do not go unnoticed.
   */
  readonly onReject?: (rejected: RejectedFeature) => void;
}

/** The report of reading a layer. */
export type ReadReport = Pick<
  ConvertReport,
  "read" | "written" | "rejected" | "skippedRanges" | "losses" | "notices" | "operations"
>;

/**
 * A layer and its features: `for await (const feature of layer)`. Each iteration reads the input from the start, in
 * constant memory; leaving the loop ends it. Features are GeoJSON (RFC 7946) with their IDs, in longitude and latitude of
 * WGS 84 unless `targetCrs` or `reproject: false` is set. Properties are numbers, booleans, strings, null and nested values;
 * dates and times are ISO 8601 strings, integers beyond 2^53 are strings, bytes are base64.
 */
export interface FeatureLayer extends LayerInfo, AsyncIterable<Feature> {
  /** The report of the last complete iteration; null before. */
  readonly report: ReadReport | null;
}

/** An open input; `await using` or `close` removes its temporary files. */
export interface FeatureDataset extends AsyncDisposable {
  readonly layers: readonly FeatureLayer[];
  /** @throws layer-missing */
  layer(name: string): FeatureLayer;
  close(): Promise<void>;
}

/**
 * Opens an input. Its features are read when a layer is iterated.
 * @throws input-missing, input-unrecognized, input-ambiguous, layer-missing, option-invalid … and what readers throw
 */
export async function openFeatures(input: Input, options: OpenOptions, host: Host): Promise<FeatureDataset> {
  const spool = new Spool();
  try {
    return await withLibraryErrors(async () => {
      checkOptions("open", options, ["registry", "signal", "onProgress", "onReject"]);
      const { from } = options;
      const { registry, signal } = host;
      if (signal.aborted) throw createError("interrupted", {}, signal.reason);
      const { address, name } = await resolveInput(input, { spool, registry, signal, from });
      const named: Host = { ...host, displayNames: new Map([[address, name]]), rewriteMessage: rewriteFlagsAsOptions };
      await using opened = await openInputs([address], options, named, spool);
      const names: string[] = [];
      const layers = opened.layers.map(({ layer }) => {
        const nth = names.filter((other) => other === layer.name).length;
        names.push(layer.name);
        return new LayerReader(toLayerInfo(layer), nth, address, options, named, spool);
      });
      return new OpenFeatures(name, layers, spool);
    }, host.signal);
  } catch (error) {
    await spool[Symbol.asyncDispose]();
    throw error;
  }
}

function toLayerInfo({ name, crs, fields, geometryTypes, featureCount, extent, aliases }: LayerInfo): LayerInfo {
  return { name, crs, fields, geometryTypes, featureCount, extent, ...(aliases ? { aliases } : {}) };
}

class OpenFeatures implements FeatureDataset {
  constructor(
    private readonly name: string,
    readonly layers: readonly FeatureLayer[],
    private readonly spool: Spool,
  ) {}

  layer(name: string): FeatureLayer {
    const found = this.layers.find((layer) => layer.name === name || layer.aliases?.includes(name));
    if (found) return found;
    throw createError("layer-missing", {
      source: this.name,
      layer: name,
      layers: this.layers.map((layer) => layer.name),
    });
  }

  close(): Promise<void> {
    return this.spool[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class LayerReader implements FeatureLayer {
  readonly name: string;
  readonly crs: LayerInfo["crs"];
  readonly fields: LayerInfo["fields"];
  readonly geometryTypes: LayerInfo["geometryTypes"];
  readonly featureCount: LayerInfo["featureCount"];
  readonly extent: LayerInfo["extent"];
  readonly aliases?: readonly string[];
  report: ReadReport | null = null;

  /** @param nth of the layers of this name, counted from 0 */
  constructor(
    info: LayerInfo,
    private readonly nth: number,
    private readonly address: string,
    private readonly options: OpenOptions,
    private readonly host: Host,
    private readonly spool: Spool,
  ) {
    this.name = info.name;
    this.crs = info.crs;
    this.fields = info.fields;
    this.geometryTypes = info.geometryTypes;
    this.featureCount = info.featureCount;
    this.extent = info.extent;
    if (info.aliases) this.aliases = info.aliases;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Feature, void, undefined> {
    if (this.spool.isClosed) throw this.closedError();
    const channel = new Channel<Feature>();
    const left = new AbortController();
    const folder = this.spool.folder();
    const rejects = join(folder, "rejects.geojsonl");
    const running = this.run(channel, left.signal, join(folder, featuresFormatId), rejects);
    const ended = running.then(
      () => channel.close(),
      (error: unknown) =>
        channel.close({
          error: this.spool.isClosed ? this.closedError(error) : toThrown(error, this.host.signal),
        }),
    );
    try {
      yield* channel;
      this.report = toReadReport(await running);
      await this.tellRejects(rejects);
    } finally {
      left.abort();
      await ended;
    }
  }

  private closedError(cause?: unknown): GeoferryError {
    const reason = `layer ${this.name} cannot be read: its dataset is closed; open the input again`;
    return createError("usage", { reason }, cause);
  }

  private run(channel: Channel<Feature>, left: AbortSignal, output: string, rejects: string): Promise<ConvertReport> {
    const { name, nth, address, options, host } = this;
    const { onReject: _, signal: __, onProgress: ___, registry: ____, ...shape } = options;
    const registry = host.registry.copy();
    registry.add(
      createFeaturesFormat((features, layer) => (layer === nth ? channel.push(features) : Promise.resolve())),
      featuresFormatId,
    );
    const signal = AbortSignal.any([host.signal, left]);
    // On this thread, since features of another thread would have to be copied.
    const request = { ...shape, inputs: [address], output, to: featuresFormatId, layers: [name], rejects, workers: 1 };
    return convert(request, { ...host, registry, signal });
  }

  private async tellRejects(path: string): Promise<void> {
    const { rejected } = this.report!;
    if (rejected === 0) return;
    const { onReject } = this.options;
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    if (!onReject) {
      const { reason } = parseRejectedFeature(lines[0]!);
      throw createError("features-rejected", { layer: this.name, rejected, reason });
    }
    for (const line of lines) onReject(parseRejectedFeature(line));
  }
}

function parseRejectedFeature(line: string): RejectedFeature {
  const { reject, ...feature } = JSON.parse(line) as Feature & {
    readonly reject: Place & { readonly code: string; readonly reason: string };
  };
  const { code, reason, record, line: at, byte, field, layer } = reject;
  const place = Object.fromEntries(
    Object.entries({ layer, record, line: at, byte, field }).filter(([, value]) => value !== undefined),
  );
  return { feature, code, reason, place };
}

function toReadReport(whole: ConvertReport): ReadReport {
  const { read, written, rejected, skippedRanges, losses, notices, operations } = rewriteReport(whole);
  return { read, written, rejected, skippedRanges, losses, notices, operations };
}
