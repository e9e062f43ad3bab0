/** The library: what the command line does, for programs. */
import { builtins } from "../plugins/index.js";
import { inLibraryWords } from "./library/advice.js";
import { checkOptions } from "./library/check-options.js";
import {
  type BytesReport,
  type ConversionRequest,
  convertInputs,
  type FeaturesToWrite,
  type Output,
  type WriteOptions,
  writeFeatures,
} from "./library/convert.js";
import { type CallOptions, hostOf, registryOf } from "./library/host.js";
import type { Input } from "./library/inputs.js";
import { type FeatureDataset, type OpenOptions, openFeatures } from "./library/open.js";
import { convertMany as convertEach, type Outcome } from "./pipeline/convert-many.js";
import { type InspectReport, type InspectRequest, inspect as inspectInputs } from "./pipeline/inspect.js";
import type { ConvertReport } from "./pipeline/report.js";
import type { ConvertRequest } from "./pipeline/request.js";
import type { Registry } from "./plugin/registry.js";

/** The formats that come with geoferry; others can be added to it (`loadPlugin`). */
export const defaultRegistry = (): Registry => registryOf(builtins);

/**
 * Opens an input: a path, an address, a URL, bytes, a Blob or a stream. Its layers are async iterables of GeoJSON
 * features (RFC 7946), in WGS 84 unless `targetCrs` names another system; the options are those of `convert`.
 * @throws GeoferryError: input-missing, input-unrecognised, layer-missing, option-invalid …
 */
export function open(input: Input, options: OpenOptions = {}): Promise<FeatureDataset> {
  const { registry, signal, onProgress } = options;
  const call = { ...(registry && { registry }), ...(signal && { signal }), ...(onProgress && { onProgress }) };
  return openFeatures(input, options, hostOf(builtins, call));
}

/**
 * Converts inputs into one output, which appears whole or not at all. Without `output` the report has the bytes.
 * @throws GeoferryError of every kind but "rejected": rejected features are in the report
 */
export function convert(
  request: ConversionRequest & { readonly output: Output },
  call?: CallOptions,
): Promise<ConvertReport>;
export function convert(
  request: ConversionRequest & { readonly output?: undefined; readonly to: string },
  call?: CallOptions,
): Promise<BytesReport>;
export function convert(request: ConversionRequest, call: CallOptions = {}): Promise<ConvertReport> {
  return convertInputs(request, hostOf(builtins, call));
}

/**
 * Writes features, which may come one by one from a generator, in any format. Positions are longitude and latitude in
 * degrees (RFC 7946) unless `sourceCrs` names another system. Without `output` the report has the bytes.
 * @throws GeoferryError of every kind but "rejected"; what the iterable throws
 */
export function write(
  features: FeaturesToWrite,
  output: Output,
  options?: WriteOptions,
  call?: CallOptions,
): Promise<ConvertReport>;
export function write(
  features: FeaturesToWrite,
  output: undefined,
  options: WriteOptions & { readonly to: string },
  call?: CallOptions,
): Promise<BytesReport>;
export function write(
  features: FeaturesToWrite,
  output: Output | undefined,
  options: WriteOptions = {},
  call: CallOptions = {},
): Promise<ConvertReport> {
  return writeFeatures(features, output, options, hostOf(builtins, call));
}

/** `geoferry info`, and `check` where `thorough`. @throws what opening and reading the inputs throws */
export const inspect = (
  request: InspectRequest,
  call: CallOptions = {},
  thorough: boolean = false,
): Promise<InspectReport> => inLibraryWords(() => inspectInputs(request, hostOf(builtins, call), thorough));

/** A conversion for each file of folders and patterns; one that fails does not stop the others. */
export const convertMany = (
  request: ConvertRequest,
  call: CallOptions = {},
  onOutcome?: (outcome: Outcome) => void,
): Promise<Outcome[]> =>
  inLibraryWords(async () => {
    checkOptions("convertMany", request, ["inputs", "output"]);
    return convertEach(request, hostOf(builtins, call), onOutcome);
  });

// What jobs need beside conversions, a parser of YAML among it, is loaded when a job is.

/** See `src/jobs/read-job.ts`. @throws job-invalid */
export const readJob = async (...given: Parameters<typeof import("./jobs/read-job.js").readJob>) =>
  (await import("./jobs/read-job.js")).readJob(...given);

/** See `src/jobs/read-job.ts`. @throws job-invalid, input-missing, input-unreadable */
export const readJobFile = async (...given: Parameters<typeof import("./jobs/read-job.js").readJobFile>) =>
  (await import("./jobs/read-job.js")).readJobFile(...given);

/** See `src/jobs/run-job.ts`. @throws what stops a job as a whole */
export const runJob = async (...given: Parameters<typeof import("./jobs/run-job.js").runJob>) =>
  (await import("./jobs/run-job.js")).runJob(...given);

export { builtins } from "../plugins/index.js";
export * from "./errors.js";
export type { Job } from "./jobs/job.js";
export type { RunSettings, Watcher } from "./jobs/run-job.js";
export type { RunReport, StepReport } from "./jobs/run-report.js";
export type { JobTools } from "./jobs/run-step.js";
export type {
  BytesReport,
  ConversionRequest,
  FeaturesToWrite,
  FeatureToWrite,
  Output,
  WriteOptions,
} from "./library/convert.js";
export type { CallOptions } from "./library/host.js";
export type { Bytes, Input } from "./library/inputs.js";
export type {
  FeatureDataset,
  FeatureLayer,
  OpenOptions,
  ReadReport,
  RejectedFeature,
  ShapeOptions,
} from "./library/open.js";
export type { Crs, Extent, Feature, Field, Geometry, LayerInfo, Loss } from "./model/index.js";
export { type NetworkSettings, usualNetwork, withNetwork } from "./network.js";
export type { InspectReport, LayerReport } from "./pipeline/inspect.js";
export type { ConvertReport, OutputReport } from "./pipeline/report.js";
export type { ConvertRequest, Host, Progress } from "./pipeline/request.js";
export { loadPlugin } from "./plugin/load.js";
export { Registry } from "./plugin/registry.js";
export type { Connection } from "./remote/connection.js";
export type { ServiceClient, Traffic } from "./remote/map-client.js";
export { openService, usualTraffic } from "./remote/service.js";
export type { ApplyReport } from "./sync/apply-tools.js";
export {
  type DedupeOnlooker,
  type DedupeRequest,
  type Deduplication,
  type Duplicates,
  deduplicate,
  prepareDeduplication,
} from "./sync/dedupe.js";
export { isUnchanged, type Prepared, type Unchanged } from "./sync/prepare.js";
export { type SyncRequest, usualSettings } from "./sync/request.js";
export { type Onlooker, rehearse, type Synchronised, synchronise } from "./sync/sync.js";
export { openReading, type ReadingRun, SyncRun, type SyncTools } from "./sync/sync-run.js";
export type { Outcome };
