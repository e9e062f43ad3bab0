/** The library: what the command line does, for programs. */
import "./plug-and-play.js";

import { builtins } from "../plugins/index.js";
import type { CompareReport } from "./compare/compare.js";
import type { CompareRequest } from "./compare/request.js";
import { createError } from "./errors.js";
import { checkObject, checkOptions, describeValue } from "./library/check-options.js";
import {
  type BytesReport,
  type ConversionRequest,
  convertInputs,
  type FeaturesToWrite,
  type Output,
  type WriteOptions,
  writeFeatures,
} from "./library/convert.js";
import { type DiffCall, diffInputs } from "./library/diff.js";
import { type CallOptions, createHost, createRegistry } from "./library/host.js";
import { type FeatureDataset, type OpenOptions, openFeatures } from "./library/open.js";
import type { Input } from "./library/resolve-input.js";
import { withLibraryErrors } from "./library/rewrite-messages.js";
import { convertMany as convertEach, type Outcome } from "./pipeline/convert-many.js";
import { type InspectReport, type InspectRequest, inspect as inspectInputs } from "./pipeline/inspect.js";
import type { ConvertReport } from "./pipeline/report.js";
import type { ConvertRequest } from "./pipeline/request.js";
import type { Registry } from "./plugin/registry.js";

/** A registry of the built-in formats; others can be added (`loadPlugin`). */
export const defaultRegistry = (): Registry => createRegistry(builtins);

/**
 * Opens an input: a path, an address, a URL, bytes, a Blob or a stream. Its layers are async iterables of GeoJSON
 * features (RFC 7946), in WGS 84 unless `targetCrs` names another system; the options are those of `convert`.
 * @throws GeoferryError: input-missing, input-unrecognized, layer-missing, option-invalid …
 */
export async function open(input: Input, options: OpenOptions = {}): Promise<FeatureDataset> {
  checkObject("open", options);
  const { registry, signal, onProgress } = options;
  const call = { ...(registry && { registry }), ...(signal && { signal }), ...(onProgress && { onProgress }) };
  return openFeatures(input, options, createHost(builtins, call));
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
export async function convert(request: ConversionRequest, call: CallOptions = {}): Promise<ConvertReport> {
  checkObject("convert", call);
  return convertInputs(request, createHost(builtins, call));
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
export async function write(
  features: FeaturesToWrite,
  output: Output | undefined,
  options: WriteOptions = {},
  call: CallOptions = {},
): Promise<ConvertReport> {
  checkObject("write", options);
  checkObject("write", call);
  return writeFeatures(features, output, options, createHost(builtins, call));
}

/**
 * Compares two inputs, as `geoferry diff` does: layers, fields, reference systems, and features added, removed, changed
 * and moved, with distances in metres. Memory is constant; `onChange` gets each difference as it is found.
 * @throws GeoferryError of every kind but "differences": they are in the report
 */
export async function diff(request: CompareRequest, call: CallOptions & DiffCall = {}): Promise<CompareReport> {
  checkObject("diff", call);
  const { onChange, ...options } = call;
  return diffInputs(request, onChange ? { onChange } : {}, createHost(builtins, options));
}

/** `geoferry info`, with `statistics` as with `--stats`, or `check` if `thorough`. @throws what opening and reading the inputs throws */
export const inspect = (
  request: InspectRequest,
  call: CallOptions = {},
  thorough: boolean = false,
): Promise<InspectReport> =>
  withLibraryErrors(async () => {
    checkOptions("inspect", request, ["inputs", "existingMap", "statistics"]);
    const { inputs } = request as Partial<InspectRequest>;
    if (!Array.isArray(inputs))
      throw createError("option-invalid", {
        option: "inputs",
        value: describeValue(inputs),
        expected: "an array of paths",
      });
    return inspectInputs(request, createHost(builtins, call), thorough);
  });

/** Converts each file of folders and globs; a failed conversion does not stop the others. */
export const convertMany = (
  request: ConvertRequest,
  call: CallOptions = {},
  onOutcome?: (outcome: Outcome) => void,
): Promise<Outcome[]> =>
  withLibraryErrors(async () => {
    checkOptions("convertMany", request, ["inputs", "output"]);
    return convertEach(request, createHost(builtins, call), onOutcome);
  });

// The code of jobs, such as the YAML parser, is loaded on first use.

/** See `src/jobs/file/read-job.ts`. @throws job-invalid */
export const readJob = async (...given: Parameters<typeof import("./jobs/file/read-job.js").readJob>) =>
  (await import("./jobs/file/read-job.js")).readJob(...given);

/** See `src/jobs/file/read-job.ts`. @throws job-invalid, input-missing, input-unreadable */
export const readJobFile = async (...given: Parameters<typeof import("./jobs/file/read-job.js").readJobFile>) =>
  (await import("./jobs/file/read-job.js")).readJobFile(...given);

/** See `src/jobs/run/run-job.ts`. @throws what stops a job as a whole */
export const runJob = async (...given: Parameters<typeof import("./jobs/run/run-job.js").runJob>) =>
  (await import("./jobs/run/run-job.js")).runJob(...given);

export { builtins } from "../plugins/index.js";
export type { ChangeCounts, CompareReport, LayerResult } from "./compare/compare.js";
export type { CompareRequest } from "./compare/request.js";
export * from "./errors.js";
export type { Job } from "./jobs/job.js";
export type { RunReport, StepReport } from "./jobs/report/run-report.js";
export type { JobEvents, RunSettings } from "./jobs/run/run-job.js";
export type { StepContext } from "./jobs/run/step-context.js";
export type {
  BytesReport,
  ConversionRequest,
  FeaturesToWrite,
  FeatureToWrite,
  Output,
  WriteOptions,
} from "./library/convert.js";
export type { DiffCall, DiffChange, DiffFeature, DiffLayer } from "./library/diff.js";
export type { CallOptions } from "./library/host.js";
export type {
  FeatureDataset,
  FeatureLayer,
  OpenOptions,
  ReadReport,
  RejectedFeature,
  TransformOptions,
} from "./library/open.js";
export type { Input, InputBytes } from "./library/resolve-input.js";
export type { Crs, Extent, Feature, Field, Geometry, LayerInfo, Loss } from "./model/index.js";
export { defaultNetworkSettings, type NetworkSettings, withNetworkSettings } from "./network-settings.js";
export type { InspectReport, LayerReport } from "./pipeline/inspect.js";
export type { ConvertReport, OutputReport } from "./pipeline/report.js";
export type { ConvertRequest, Host, Progress } from "./pipeline/request.js";
export { loadPlugin } from "./plugin/load-plugin.js";
export { Registry } from "./plugin/registry.js";
export type { ServiceClient, Traffic } from "./remote/client/map-client.js";
export { createServiceClient, defaultTraffic } from "./remote/client/service-client.js";
export type { Connection } from "./remote/connection/connection.js";
export type {
  FieldStatisticsReport,
  FrequentValue,
  QuantilesReport,
  ReportedValue,
} from "./statistics/field-report.js";
export type { GeometryStatisticsReport } from "./statistics/geometry-statistics.js";
export type { StatisticsReport } from "./statistics/statistics.js";
export type { ApplyReport } from "./sync/apply/apply-context.js";
export {
  type DedupeHooks,
  type DedupePlan,
  type DedupeRequest,
  type Duplicates,
  deduplicate,
  planDedupe,
} from "./sync/diff/dedupe.js";
export { planSync } from "./sync/plan/plan-sync.js";
export { isUnchanged, type PreparedSync, type UnchangedSync } from "./sync/plan/prepare-sync.js";
export { defaultSyncSettings, type SyncRequest } from "./sync/request.js";
export { synchronize } from "./sync/sync.js";
export type { SyncHooks, SyncResult } from "./sync/sync-hooks.js";
export { openReadonlySyncRun, type ReadonlySyncRun, type SyncContext, SyncRun } from "./sync/sync-run.js";
export type { Outcome };
