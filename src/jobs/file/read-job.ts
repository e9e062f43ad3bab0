/** A job file into a job. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createError } from "../../errors.js";
import { gridFolders } from "../../io/grid-folders.js";
import { describeSystemError } from "../../io/input/source.js";
import type { NetworkSettings } from "../../network-settings.js";
import { parseMapInput } from "../../pipeline/input/expand-inputs.js";
import { type ConvertRequest, omitUndefined } from "../../pipeline/request.js";
import { defaultSyncSettings, parseScope, type SourceRequest, type SyncRequest } from "../../sync/request.js";
import type { Job, Step } from "../job.js";
import { isReference, resolveReferences } from "./references.js";
import { defaultOverdueAfter, defaultRetries, jobFile, type mapTarget, type stepFile } from "./schema.js";
import { path, type ValueKind } from "./value-kinds.js";
import { parseYaml, type YamlPlace } from "./yaml-places.js";

type ValueOf<K> = K extends ValueKind<infer T> ? T : never;
type StepMembers = ValueOf<typeof stepFile>;
type TargetMembers = ValueOf<typeof mapTarget>;
type JobMembers = ValueOf<typeof jobFile>;

/** @throws input-missing, input-unreadable, job-invalid with line and column */
export async function readJobFile(file: string, environment: NodeJS.ProcessEnv): Promise<Job> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") throw createError("input-missing", { source: file }, error);
    throw createError("input-unreadable", { source: file, reason: describeSystemError(error) }, error);
  }
  return readJob(text, file, environment);
}

/** @param text YAML @param file for messages @throws job-invalid */
export function readJob(text: string, file: string, environment: NodeJS.ProcessEnv): Job {
  const written = parseYaml(text, file);
  refuseSecrets(written);
  const says = jobFile.read(resolveReferences(written, environment));
  const seen = new Set<string>();
  const steps = says.steps.map(({ value, place }) => {
    const step = stepOf(value, place, says, environment);
    if (seen.has(step.name)) throw place.error(`there is a step "${step.name}" before it; names are used once`);
    const missing = step.needs.find((need) => !seen.has(need));
    if (missing !== undefined) throw place.error(`needs "${missing}", which is no step before it`);
    seen.add(step.name);
    return step;
  });
  const { service, onFailure, report, page, metrics } = says;
  return {
    name: says.name,
    service: omitUndefined({ ...service }),
    parallel: says.parallel ?? 1,
    steps,
    overdueAfter: says.overdueAfter ?? defaultOverdueAfter,
    onFailure: onFailure ? omitUndefined(onFailure) : null,
    reports: omitUndefined({ json: report, html: page, metrics }),
  };
}

/** Job files lie in repositories and on shared disks. */
function refuseSecrets(job: YamlPlace): void {
  const service = (job.value as { service?: unknown } | null)?.service;
  const secret = (service as { clientSecret?: unknown } | null | undefined)?.clientSecret;
  if (secret === undefined || isReference(secret)) return;
  const place = job.at("service", service).at("clientSecret", "…");
  throw place.error("a secret stands in no file; write ${GEOFERRY_CLIENT_SECRET} and set that variable");
}

function stepOf(says: StepMembers, place: YamlPlace, job: JobMembers, environment: NodeJS.ProcessEnv): Step {
  const { value: target, place: at } = says.target;
  const retries = says.retries ?? job.retries ?? defaultRetries.retries;
  const base = {
    name: says.name,
    needs: says.needs ?? [],
    retries,
    // One attempt is one request.
    network: { ...(retries === 0 && { retries }), ...omitUndefined<Partial<NetworkSettings>>({ ...job.network }) },
    retryDelay: says.retryDelay ?? job.retryDelay ?? defaultRetries.retryDelay,
    timeout: says.timeout ?? job.timeout ?? null,
    line: place.line,
  };
  if (says.source.includes("-")) throw place.error("a job has no stdin; name a file");
  if (typeof target !== "string") {
    refuseMembers(says, fileMembers, place, "are for files, and the target is a map");
    if (says.rejects !== undefined) path.read(place.at("rejects", says.rejects));
    const request = synchronisationOf(says, target, at, environment);
    return { ...base, kind: "synchronisation", request, backup: target.backup ?? null };
  }
  if (parseMapInput(target) !== null)
    throw at.error(`a map as target is written {map: ${parseMapInput(target)}, mode: …}`);
  const chosen = (["append", "overwrite", "replaceLayer"] as const).filter((name) => says[name]);
  if (chosen.length > 1) throw place.error(`${chosen.join(" and ")} exclude each other: choose one`);
  if (says.reproject === false && says.targetCrs)
    throw place.error("reproject: false and targetCrs exclude each other");
  if (target === "-") throw at.error("a job has no stdout; name a file");
  return {
    ...base,
    kind: "conversion",
    request: conversionOf(says, target, environment),
    always: says.always ?? false,
  };
}

const fileMembers = [
  "to",
  "layerName",
  "targetCrs",
  "reproject",
  "out",
  "append",
  "overwrite",
  "replaceLayer",
  "allowEmpty",
  "onNameClash",
  "always",
] as const;

function refuseMembers(
  says: StepMembers,
  members: readonly (keyof StepMembers)[],
  place: YamlPlace,
  why: string,
): void {
  const [first] = members.filter((name) => says[name] !== undefined);
  if (first !== undefined) throw place.unknownKeyError(first, `${first} and the like ${why}`);
}

function sourceOf(says: StepMembers, environment: NodeJS.ProcessEnv): SourceRequest {
  const { source, layer, in: readerOptions, maxRejects, maxLosses, maxWithoutGeometry, maxInput } = says;
  const { from, sourceCrs, accuracy, select, rename, cast, where, bbox, limit } = says;
  const { geometryType, makeValid, swapXy, rejects, strict, skipErrors, workers, onBadGeometry } = says;
  // The job is run in its own folder, and the variable is of where it is called.
  const grids = [...(says.grid ?? []), ...gridFolders(environment).map((folder) => resolve(folder))];
  return omitUndefined({
    inputs: source,
    grids: grids.length > 0 ? grids : undefined,
    from,
    layers: layer,
    sourceCrs,
    accuracy,
    select,
    rename,
    cast,
    where,
    bbox,
    limit,
    geometryType,
    makeValid,
    swapXy,
    readerOptions,
    rejects,
    maxRejects: maxRejects?.text,
    onBadGeometry,
    maxLosses: maxLosses?.text,
    maxWithoutGeometry: maxWithoutGeometry?.text,
    strict,
    skipErrors,
    workers,
    maxInputBytes: maxInput,
  });
}

function conversionOf(says: StepMembers, target: string, environment: NodeJS.ProcessEnv): ConvertRequest {
  const { to, layerName, targetCrs, reproject, out: writerOptions, append, overwrite, replaceLayer, allowEmpty } = says;
  const { onNameClash } = says;
  const output = omitUndefined({
    to,
    layerName,
    targetCrs,
    reproject,
    writerOptions,
    append,
    overwrite,
    replaceLayer,
    allowEmpty,
    onNameClash,
  });
  return { ...sourceOf(says, environment), ...output, output: target };
}

function synchronisationOf(
  says: StepMembers,
  target: TargetMembers,
  at: YamlPlace,
  environment: NodeJS.ProcessEnv,
): SyncRequest {
  const { keepUnmanaged, deleteUnmanaged, scope, match, remoteField, mode = defaultSyncSettings.mode } = target;
  if (keepUnmanaged && deleteUnmanaged) throw at.error("keepUnmanaged and deleteUnmanaged exclude each other");
  if (match !== undefined && remoteField !== undefined) throw at.error("match and remoteField exclude each other");
  if (mode === "append" && remoteField !== undefined)
    throw at.error("mode append matches nothing: leave remoteField away");
  return {
    // Two steps may well have sources of one name.
    source: { rejects: `${fileName(says.name)}.rejects.geojsonl`, ...sourceOf(says, environment) },
    map: target.map.replace(/^map:/, ""),
    mode,
    matching:
      match === "id" ? { by: "id" } : { by: "property", name: remoteField === "auto" ? null : (remoteField ?? null) },
    scope: scope === undefined ? null : scopeOf(scope, at),
    precision: target.precision ?? defaultSyncSettings.precision,
    replaceProperties: target.replaceProperties ?? defaultSyncSettings.replaceProperties,
    unmanaged: keepUnmanaged ? "keep" : deleteUnmanaged ? "delete" : defaultSyncSettings.unmanaged,
    deleteExcluded: target.deleteExcluded ?? defaultSyncSettings.deleteExcluded,
    updateWith: target.updateWith ?? defaultSyncSettings.updateWith,
    onDuplicate: target.onDuplicate ?? defaultSyncSettings.onDuplicate,
    onMissingKey: target.onMissingKey ?? defaultSyncSettings.onMissingKey,
    singleRead: target.singleRead ?? defaultSyncSettings.singleRead,
    settleTime: target.settleTime ?? defaultSyncSettings.settleTime,
    conflictRetries: target.conflictRetries ?? defaultSyncSettings.conflictRetries,
    guards: {
      maxDelete: target.maxDelete ?? null,
      maxUpdate: target.maxUpdate ?? null,
      allowNullGeometry: target.allowNullGeometry ?? false,
      allowEmpty: target.allowEmpty ?? false,
    },
    strict: says.strict ?? defaultSyncSettings.strict,
  };
}

/** What a step is called, as a file may be. */
const fileName = (step: string): string => step.replace(/[^\p{L}\p{N}._-]+/gu, "-");

function scopeOf(text: string, at: YamlPlace): SyncRequest["scope"] {
  const scope = parseScope(text);
  if (scope === null) throw at.error(`scope: "${text}" is not of the form property=value`);
  return scope;
}
