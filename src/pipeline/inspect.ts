/** Inspects inputs without converting them, for `geoferry info` and `geoferry check`. */
import { geographicConversion, isWgs84, shareGrids } from "../crs/index.js";
import { Spool } from "../io/input/spool.js";
import type { Crs, Extent, Field, FieldSummary, GeometryType, Loss, Reject, SkippedRange } from "../model/index.js";
import { Summarizer, typesIn } from "../model/layer-summary.js";
import { Tally } from "../model/report.js";
import type { StageSpec } from "../stages/stage.js";
import type { StatisticsCollector, StatisticsReport } from "../statistics/statistics.js";
import { type CrsReference, describeReference, operationToWgs84 } from "./crs-reference.js";
import { chooseExecutor, startWorkersEarly } from "./execute/choose-executor.js";
import { mapInOrder, maxConcurrentPieces } from "./execute/executor.js";
import { explainMissingGeometry } from "./input/check-geometry.js";
import {
  coordinateAdvice,
  type ExistingMapData,
  explainSwap,
  findWarnings,
  warnIfDisjoint,
} from "./input/layer-warnings.js";
import { type OpenLayer, openInputs } from "./input/open-inputs.js";
import { layerPieces } from "./input/read-layer.js";
import { parseCrsOption } from "./plan/parse-crs-option.js";
import {
  areaCheckSettings,
  checkNames,
  checkSeenFields,
  filterStages,
  requestedFields,
  unknownCrsError,
} from "./plan/plan-stages.js";
import { ReportBuilder } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { toAbsolutePlace } from "./write/rejects-file.js";

export interface LayerReport {
  readonly input: string;
  readonly format: string;
  readonly layer: string;
  readonly crs: Crs | null;
  /** Details of the CRS; null if there is none. */
  readonly reference: CrsReference | null;
  readonly featureCount: number;
  readonly geometryTypes: readonly GeometryType[];
  readonly nullGeometries: number;
  readonly hasZ: boolean;
  readonly hasM: boolean;
  readonly extent: Extent | null;
  readonly fields: readonly FieldSummary[];
  /** One sentence each. */
  readonly warnings: readonly string[];
  /** Why x and y seem to be swapped in the whole layer, which is one of the warnings; null if they do not. */
  readonly suspectedOrder: string | null;
  /** Why a conversion to WGS 84 would fail; null if it would not. */
  readonly error: string | null;
  /** The code of that error. */
  readonly errorCode: "geometry-missing" | "crs-unknown" | "crs-no-operation" | null;
  /** Features that would be rejected or repaired, each with its place; only if `thorough`. */
  readonly problems: readonly Reject[];
  /** Only if `statistics` is requested. */
  readonly statistics?: StatisticsReport;
}

export interface InspectReport {
  readonly layers: readonly LayerReport[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** Ranges of the input that were skipped (`--skip-errors`); the layer reports do not cover them. */
  readonly skippedRanges: readonly SkippedRange[];
}

export type InspectRequest = Pick<
  ConvertRequest,
  | "inputs"
  | "from"
  | "readerOptions"
  | "layers"
  | "skipErrors"
  | "maxInputBytes"
  | "workers"
  | "sourceCrs"
  | "accuracy"
  | "grids"
  | "where"
  | "select"
> & {
  readonly existingMap?: ExistingMapData;
  /** Also collect statistics of fields and geometries. */
  readonly statistics?: boolean;
};

/**
 * @param thorough also check every coordinate and the validity of every geometry
 * @throws what opening and reading the inputs throws
 */
export async function inspect(request: InspectRequest, host: Host, thorough: boolean): Promise<InspectReport> {
  const convertRequest = { ...request, output: "" };
  await using early = await startWorkersEarly(convertRequest, host, null);
  await using spool = new Spool();
  await using inputs = await openInputs(
    request.inputs,
    { ...request, keepsBadGeometries: true, executor: early ?? undefined },
    host,
    spool,
  );
  const reportBuilder = new ReportBuilder();
  for (const found of inputs.findings) reportBuilder.add(found);
  checkNames(inputs.layers, convertRequest);
  const seenFields = new Set<string>();
  const layers: InspectedLayer[] = [];
  await using owned = early ? null : await chooseExecutor(convertRequest, host, inputs.layers, null);
  const executor = early ?? owned!;
  for (const open of inputs.layers)
    layers.push(await inspectLayer(open, request, host, executor, thorough, reportBuilder, seenFields));
  if (seenFields.size > 0) checkSeenFields(inputs.layers, convertRequest, seenFields);
  return {
    layers: addRefusals(layers, inputs.layers, request),
    losses: reportBuilder.losses.list(),
    notices: reportBuilder.notices.list(),
    skippedRanges: reportBuilder.skippedRanges,
  };
}

type InspectedLayer = Omit<LayerReport, "error" | "errorCode">;

/**
 * Adds why a conversion would refuse a whole layer: its source has no coordinates although the request sets their
 * reference system, its reference system is unknown, or there is no operation to WGS 84.
 */
function addRefusals(
  layers: readonly InspectedLayer[],
  opened: readonly OpenLayer[],
  request: InspectRequest,
): LayerReport[] {
  const isLocated = ({ featureCount, nullGeometries }: InspectedLayer) => featureCount > nullGeometries;
  const located = new Set(layers.filter(isLocated).map(({ input }) => input));
  return layers.map((layer, l) => {
    const lacksGeometry = layer.featureCount > 0 && !located.has(layer.input);
    const missing = lacksGeometry ? explainMissingGeometry(opened[l]!, request) : null;
    if (missing === null) return { ...layer, ...missingOperationRefusal(layer, opened[l]!) };
    // The error already contains this advice.
    const advice = new Set(coordinateAdvice(opened[l]!.layer));
    const warnings = layer.warnings.filter((sentence) => !advice.has(sentence));
    return { ...layer, warnings, error: missing, errorCode: "geometry-missing" };
  });
}

function missingOperationRefusal(
  { crs, reference }: InspectedLayer,
  open: OpenLayer,
): Pick<LayerReport, "error" | "errorCode"> {
  const unknown = crs === null ? unknownCrsError(open) : null;
  if (unknown !== null) return { error: unknown.message, errorCode: "crs-unknown" };
  if (reference === null || !("error" in reference.toWgs84)) return { error: null, errorCode: null };
  return { error: reference.toWgs84.error, errorCode: "crs-no-operation" };
}

/** Notices about the positions of a layer that are among its warnings. */
const areaNotices: ReadonlySet<string> = new Set(["outside-crs-area", "axis-order-suspected", "zone-prefix"]);

async function inspectLayer(
  open: OpenLayer,
  request: InspectRequest,
  host: Host,
  executor: Awaited<ReturnType<typeof chooseExecutor>>,
  thorough: boolean,
  reportBuilder: ReportBuilder,
  seenFields: Set<string>,
): Promise<InspectedLayer> {
  const { layer, source } = open;
  const crs = request.sourceCrs === undefined ? layer.crs : await parseCrsOption("--source-crs", request.sourceCrs);
  const refinesTypes = layer.fields === null;
  const summarizer = new Summarizer(refinesTypes);
  const collector = request.statistics ? await createCollector(crs) : null;
  const problems: Reject[] = [];
  const outside = new Tally();
  let record = 0;
  let line = 0;
  let done = 0;
  const task = await executor.open({
    source: source.spec,
    reader: open.reader,
    scanResult: open.scanResult,
    layerIndex: open.layerIndex,
    layerName: layer.name,
    skipErrors: request.skipErrors ?? false,
    keepsBadGeometries: true,
    stages: filterStages(open, request),
    requestedFields: requestedFields({ ...request, output: "" }),
    checks: [...(await areaCheckStages(crs)), ...(thorough ? await checkStages(crs, layer.extent, request, host) : [])],
    outcome: { kind: "summary", refinesTypes, ...(collector ? { statistics: { crs } } : {}) },
    now: host.now.getTime(),
  });
  for await (const result of mapInOrder(layerPieces(open), maxConcurrentPieces(executor, open.layer), (work) =>
    task.run(work).then((found) => ({ found, bytes: work.split?.bytes ?? 0 })),
  )) {
    const { found } = result;
    const beyond = found.notices.filter(({ code }) => areaNotices.has(code));
    outside.merge(beyond);
    reportBuilder.add({ ...found, notices: found.notices.filter((notice) => !beyond.includes(notice)) }, record, line);
    if (found.summary) summarizer.merge(found.summary);
    if (found.statistics) collector?.merge(found.statistics);
    for (const name of found.seenFields) seenFields.add(name);
    problems.push(...found.rejects.map((reject) => toAbsolutePlace(reject, record, line)));
    record += found.records;
    line += found.lines;
    done += result.bytes;
    host.onProgress?.({ done, total: layer.bytes, features: record, phase: "scan" });
  }
  await task.close();
  const readerFindings = open.context.takeFindings(0);
  reportBuilder.add(readerFindings);
  problems.push(...readerFindings.rejects);
  const summary = summarizer.summary();
  const fields = summary.fields.length > 0 ? summary.fields : declaredFields(layer.fields ?? [], request);
  const describeOutside = ({ count, example }: Loss) => `${count} of ${summary.featureCount} features: ${example}`;
  const located = summary.featureCount - summary.kinds[0]!.count;
  const exchanged = outside.list().find(({ code, count }) => code === "axis-order-suspected" && count >= located);
  return {
    input: source.name,
    format: open.reader.id,
    layer: layer.name,
    crs,
    reference: crs && (await describeReference(crs, request, host, summary.extent)),
    featureCount: summary.featureCount,
    geometryTypes: typesIn(summary),
    nullGeometries: summary.kinds[0]!.count,
    hasZ: summary.hasZ,
    hasM: summary.hasM,
    extent: summary.extent,
    fields,
    warnings: [
      ...(await findWarnings(crs, summary, thorough, open.context.unknownCrs !== null)),
      ...coordinateAdvice(layer),
      ...outside.list().map(describeOutside),
      ...(await warnIfDisjoint(crs, summary.extent, request.existingMap)),
    ],
    suspectedOrder: exchanged ? describeOutside(exchanged) : summary.extent && (await explainSwap(crs, summary.extent)),
    problems,
    ...(collector ? { statistics: collector.report({ ...summary, fields }) } : {}),
  };
}

/** Loads the code of statistics, which few runs need. */
async function createCollector(crs: Crs | null): Promise<StatisticsCollector> {
  const { StatisticsCollector } = await import("../statistics/statistics.js");
  return new StatisticsCollector(await geographicConversion(crs));
}

/** The fields of a layer without features. */
function declaredFields(fields: readonly Field[], { select }: InspectRequest): FieldSummary[] {
  const kept = select ? select.flatMap((name) => fields.find((field) => field.name === name) ?? []) : fields;
  return kept.map((field) => ({ ...field, values: 0, maxBytes: 0 }));
}

async function areaCheckStages(crs: Crs | null): Promise<StageSpec[]> {
  const settings = crs && (await areaCheckSettings(crs));
  return settings ? [{ name: "check-area", settings }] : [];
}

/** The stages of a conversion to WGS 84 that reject features. */
async function checkStages(
  crs: Crs | null,
  extent: Extent | null,
  request: InspectRequest,
  host: Host,
): Promise<StageSpec[]> {
  const checks = [
    { name: "check-coordinates", settings: { mode: crs === null || isWgs84(crs) ? "wgs84" : "finite" } },
    { name: "check-validity", settings: {} },
  ];
  const operation = crs === null || isWgs84(crs) ? null : await operationToWgs84(crs, request, host, extent);
  if (operation === null || operation.kind === "identity") return checks;
  return [...checks, { name: "reproject", settings: { operation: await shareGrids(operation) } }];
}
