/** What `geoferry view` shows: the layers of all inputs in temporary files, with their reports. */
import { join } from "node:path";
import { crsContext, findOperation } from "../crs/index.js";
import { asGeoferryError, createError, GeoferryError } from "../errors.js";
import { Spool } from "../io/input/spool.js";
import { redact } from "../io/redact.js";
import { FeatureExtent } from "../model/feature-extent.js";
import type { Crs } from "../model/layer.js";
import { parseCrsOption } from "../pipeline/plan/parse-crs-option.js";
import { type ConvertReport, describeSkippedRange } from "../pipeline/report.js";
import type { Host } from "../pipeline/request.js";
import { hasOwnColors } from "./colors/classify.js";
import type { Analysis, InputReport, LayerInfo, ViewInfo } from "./protocol.js";
import { analyzeLayer, problemLayer } from "./spool/analyze.js";
import { readInput, type ViewRequest } from "./spool/read-input.js";
import type { SpooledLayer } from "./spool/spooled-layer.js";
import { ViewLayer } from "./view-layer.js";
import { dotLevel, maxSizeOf, noLevel, toLatitude, toLongitude, worldSize } from "./world.js";

export interface OpenedLayer {
  readonly info: LayerInfo;
  readonly spooled: SpooledLayer;
  readonly layer: ViewLayer;
  readonly crs: Crs | null;
  /** Whether its coordinates are longitude and latitude. */
  readonly isOnMap: boolean;
}

/** Errors about the reference system of an input, which do not concern its attributes. */
const systemErrors: ReadonlySet<string> = new Set(["crs-missing", "crs-unknown", "crs-no-operation"]);

/** The result of reading an input. */
export type InputOutcome =
  | { readonly input: string; readonly report: ConvertReport; readonly error?: undefined }
  | { readonly input: string; readonly error: GeoferryError; readonly report?: undefined };

/** @param input without secrets */
export type OnInput = (outcome: InputOutcome) => void;

/** Converts longitude and latitude to the coordinates of a system; null if a position cannot be converted. */
type Locate = (longitude: number, latitude: number) => readonly [number, number] | null;

export class View implements AsyncDisposable {
  readonly layers: OpenedLayer[] = [];
  readonly inputs: InputReport[] = [];
  private readonly spool = new Spool();
  private readonly aborter = new AbortController();
  private readonly locators = new Map<number, Promise<Locate | null>>();
  private analysisDone: Promise<Analysis> | null = null;

  constructor(
    private readonly request: ViewRequest,
    private readonly host: Host,
  ) {}

  /** Reads an input; one that fails does not concern the others. @throws interrupted */
  async read(address: string, onInput: OnInput): Promise<void> {
    const { host } = this;
    const input = redact(address, host.registry);
    try {
      const report = await this.readLayers(address, input, true);
      this.inputs.push(toInputReport(input, report));
      onInput({ input, report });
    } catch (thrown) {
      if (host.signal.aborted) throw createError("interrupted", {}, thrown);
      const error = asGeoferryError(thrown);
      if (!systemErrors.has(error.code) || address === "-") this.fail(input, error, onInput);
      else await this.readWithoutMap(address, input, error, onInput);
    }
  }

  /** Reads an input whose coordinates cannot become longitude and latitude: its features are in the table only. */
  private async readWithoutMap(address: string, input: string, error: GeoferryError, onInput: OnInput): Promise<void> {
    const message = error.message.replace(/,? or copy the coordinates unchanged with --no-reproject/, "");
    const reason = `${message}; until then its features are in the table only`;
    try {
      const report = await this.readLayers(address, input, false);
      this.inputs.push({ ...toInputReport(input, report), error: reason });
      onInput({ input, error: new GeoferryError(error.code, reason, error.details, error.cause) });
    } catch (thrown) {
      if (this.host.signal.aborted) throw createError("interrupted", {}, thrown);
      this.fail(input, error, onInput);
    }
  }

  private async readLayers(address: string, input: string, isOnMap: boolean): Promise<ConvertReport> {
    const { host, request, spool } = this;
    const { layers, rejects, report } = await readInput(request, address, isOnMap, host, spool);
    const given = request.sourceCrs === undefined ? null : await parseCrsOption("--source-crs", request.sourceCrs);
    for (const { layer, crs, format } of layers)
      this.add(layer, { input, format, role: "data", crs: given ?? crs, isOnMap });
    if (rejects) this.add(rejects, { input, format: "rejected features", role: "rejects", crs: null, isOnMap: false });
    return report;
  }

  /** Records an input that cannot be read. */
  fail(input: string, error: GeoferryError, onInput: OnInput): void {
    const nothing = { losses: [], notices: [], skipped: [], rejected: 0, operations: [] };
    this.inputs.push({ input, ...nothing, error: error.message });
    onInput({ input, error });
  }

  private add(
    spooled: SpooledLayer,
    { crs, isOnMap, ...about }: Pick<LayerInfo, "input" | "format" | "role"> & Pick<OpenedLayer, "crs" | "isOnMap">,
  ): OpenedLayer {
    const layer = new ViewLayer(spooled);
    const info: LayerInfo = {
      ...about,
      name: spooled.name,
      rows: spooled.rows,
      located: layer.located,
      fields: spooled.fields,
      geometryTypes: spooled.geometryTypes,
      hasZ: spooled.hasZ,
      hasIds: spooled.hasIds,
      crs: crs && { id: crs.id, name: crs.name },
      box: boxOf(spooled, layer),
      ownColors: hasOwnColors(spooled),
    };
    const opened = { info, spooled, layer, crs, isOnMap };
    this.layers.push(opened);
    return opened;
  }

  info(title: string, basemap: string | null): ViewInfo {
    const layers = this.layers.map(({ info }) => info).filter(({ role }) => role !== "problems");
    return { title, layers, inputs: this.inputs, basemap, generalized: [], isFile: false };
  }

  /** Statistics and checks, which begin with the first call. */
  analysis(): Promise<Analysis> {
    this.analysisDone ??= this.analyze().catch((error: unknown) => ({
      layers: [],
      problems: null,
      error: asGeoferryError(error).message,
    }));
    return this.analysisDone;
  }

  private async analyze(): Promise<Analysis> {
    const signal = AbortSignal.any([this.host.signal, this.aborter.signal]);
    const host = { ...this.host, signal };
    const layers: (Analysis["layers"][number] | null)[] = [];
    const found: Parameters<typeof problemLayer>[0][number][] = [];
    for (const { info, spooled, isOnMap } of [...this.layers]) {
      if (info.role !== "data" || spooled.rows === 0) {
        layers.push(null);
        continue;
      }
      const { analysis, problems } = await analyzeLayer(spooled, isOnMap, this.request.workers, host, this.spool);
      layers.push(analysis);
      found.push({ layer: spooled, problems });
    }
    const problems = problemLayer(found, this.spool);
    const about = {
      input: "check",
      format: "problems of features",
      role: "problems",
      crs: null,
      isOnMap: true,
    } as const;
    return { layers, problems: problems && this.add(problems, about).info, error: null };
  }

  /** Coordinates of a place in the system of a layer; null if they cannot be computed. */
  async locate(layer: number, longitude: number, latitude: number): Promise<readonly [number, number] | null> {
    const known = this.locators.get(layer) ?? this.openLocator(this.layers[layer]?.crs ?? null).catch(() => null);
    this.locators.set(layer, known);
    return (await known)?.(longitude, latitude) ?? null;
  }

  private async openLocator(crs: Crs | null): Promise<Locate | null> {
    if (crs === null) return null;
    const { accuracy, grids } = this.request;
    const operation = await findOperation(crsContext.wgs84, crs, {
      accuracy: accuracy ?? 100,
      grids: grids ?? [],
      gridFolders: this.host.grids?.folders ?? [],
    });
    const { buildTransform } = await import("../crs/operations/transform.js");
    const transform = await buildTransform(operation);
    return (longitude, latitude) => {
      const xy = Float64Array.of(longitude, latitude);
      transform(xy, null);
      return Number.isFinite(xy[0]) && Number.isFinite(xy[1]) ? [xy[0]!, xy[1]!] : null;
    };
  }

  /** A private file for the caller, removed with the view. */
  temporaryFile(name: string): string {
    return join(this.spool.folder(), name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.aborter.abort();
    await this.analysisDone;
    for (const { spooled } of this.layers) spooled[Symbol.dispose]();
    await this.spool[Symbol.asyncDispose]();
  }
}

function toInputReport(input: string, report: ConvertReport): InputReport {
  const { losses, notices, skippedRanges, rejected } = report;
  return {
    input,
    losses,
    notices,
    rejected,
    skipped: skippedRanges.map(describeSkippedRange),
    operations: report.operations
      .filter(({ kind }) => kind !== "identity")
      .map(({ layer, from, to, name, accuracy }) => {
        const limit = accuracy === null ? "of unknown accuracy" : `accurate to ${accuracy} m`;
        return `${layer}: from ${from} to ${to} by ${name}, ${limit}`;
      }),
    error: null,
  };
}

/** Half of a pixel more than the centers of dots and small shapes need. */
function boxOf(spooled: SpooledLayer, { located }: ViewLayer): LayerInfo["box"] {
  if (located === 0) return null;
  const extent = new FeatureExtent();
  for (let row = 0; row < spooled.rows; row++) addToExtent(extent, spooled, row);
  return extent.box();
}

function addToExtent(extent: FeatureExtent, spooled: SpooledLayer, row: number): void {
  if (spooled.levels[row] === noLevel) return;
  const [x, y] = [spooled.x[row]!, spooled.y[row]!];
  const half = spooled.levels[row] === dotLevel ? 0 : maxSizeOf(spooled.levels[row]!) / 2;
  const [west, east] = [toLongitude(Math.max(0, x - half)), toLongitude(Math.min(worldSize, x + half))];
  extent.add([west, toLatitude(Math.min(worldSize, y + half)), east, toLatitude(Math.max(0, y - half))]);
}
