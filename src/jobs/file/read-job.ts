/** Parses a job file. */
import { readFile } from "node:fs/promises";
import { normalize, resolve } from "node:path";
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
  const document = parseYaml(text, file);
  refuseSecrets(document);
  const job = jobFile.read(resolveReferences(document, environment));
  const seen = new Set<string>();
  const rejectsPaths = new Map<string, string>();
  const steps = job.steps.map(({ value, place }) => {
    const step = toStep(value, place, job, resolve(file), environment);
    if (seen.has(step.name)) throw place.error(`an earlier step is named "${step.name}"; give each step its own name`);
    const missing = step.needs.find((need) => !seen.has(need));
    if (missing !== undefined) throw place.error(`needs "${missing}", which is not an earlier step`);
    seen.add(step.name);
    const rejects = rejectsPathOf(step);
    if (rejects === null) return step;
    const other = rejectsPaths.get(rejects);
    if (other !== undefined)
      throw place.error(`step "${other}" has the same file for rejects, ${rejects}; name another one with rejects`);
    rejectsPaths.set(rejects, step.name);
    return step;
  });
  const { service, onFailure, report, page, metrics } = job;
  return {
    name: job.name,
    service: omitUndefined({ ...service }),
    parallel: job.parallel ?? 1,
    steps,
    overdueAfter: job.overdueAfter ?? defaultOverdueAfter,
    onFailure: onFailure ? omitUndefined(onFailure) : null,
    reports: omitUndefined({ json: report, html: page, metrics }),
  };
}

/** The path of rejects that a step states or has by its name; null if it follows from the output. */
function rejectsPathOf(step: Step): string | null {
  const { rejects } = step.kind === "sync" ? step.request.source : step.request;
  return rejects === undefined ? null : normalize(rejects);
}

/** Job files are kept in repositories and on shared disks, so they must not contain secrets. */
function refuseSecrets(job: YamlPlace): void {
  const service = (job.value as { service?: unknown } | null)?.service;
  const secret = (service as { clientSecret?: unknown } | null | undefined)?.clientSecret;
  if (secret === undefined || isReference(secret)) return;
  const place = job.at("service", service).at("clientSecret", "…");
  throw place.error("job files must not contain secrets; write ${GEOFERRY_CLIENT_SECRET} and set that variable");
}

function toStep(
  members: StepMembers,
  place: YamlPlace,
  job: JobMembers,
  file: string,
  environment: NodeJS.ProcessEnv,
): Step {
  const { value: target, place: at } = members.target;
  const retries = members.retries ?? job.retries ?? defaultRetries.retries;
  const base = {
    name: members.name,
    needs: members.needs ?? [],
    retries,
    // `retries: 0` also disables retries of single requests.
    network: { ...(retries === 0 && { retries }), ...omitUndefined<Partial<NetworkSettings>>({ ...job.network }) },
    retryDelay: members.retryDelay ?? job.retryDelay ?? defaultRetries.retryDelay,
    timeout: members.timeout ?? job.timeout ?? null,
    line: place.line,
  };
  if (members.source.includes("-")) throw place.error("a job cannot read stdin; name a file");
  if (typeof target !== "string") {
    refuseMembers(members, fileMembers, place, "is an option for file targets, but the target is a map");
    if (members.rejects !== undefined) path.read(place.at("rejects", members.rejects));
    const request = toSyncRequest(members, target, at, file, environment);
    return { ...base, kind: "sync", request, backup: target.backup ?? null };
  }
  if (parseMapInput(target) !== null) throw at.error(`write a map target as {map: ${parseMapInput(target)}, mode: …}`);
  const chosen = (["append", "overwrite", "replaceLayer"] as const).filter((name) => members[name]);
  if (chosen.length > 1) throw place.error(`${chosen.join(" and ")} exclude each other: choose one`);
  if (members.reproject === false && members.targetCrs)
    throw place.error("reproject: false and targetCrs exclude each other");
  if (target === "-") throw at.error("a job cannot write to stdout; name a file");
  return {
    ...base,
    kind: "conversion",
    request: toConvertRequest(members, target, environment),
    always: members.always ?? false,
    maxDecrease: members.maxDecrease?.text ?? null,
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
  "verify",
  "always",
  "maxDecrease",
] as const;

function refuseMembers(
  members: StepMembers,
  refused: readonly (keyof StepMembers)[],
  place: YamlPlace,
  reason: string,
): void {
  const [first] = refused.filter((name) => members[name] !== undefined);
  if (first !== undefined) throw place.unknownKeyError(first, `${first} ${reason}`);
}

function toSourceRequest(members: StepMembers, environment: NodeJS.ProcessEnv): SourceRequest {
  const { source, layer, in: readerOptions, maxRejects, maxLosses, maxWithoutGeometry, maxInput } = members;
  const { from, sourceCrs, accuracy, select, rename, cast, where, bbox, limit } = members;
  const { geometryType, makeValid, swapXy, rejects, strict, skipErrors, workers, onBadGeometry } = members;
  // The job runs in its own folder; paths of the variable are relative to the folder of the caller.
  const grids = [...(members.grid ?? []), ...gridFolders(environment).map((folder) => resolve(folder))];
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

function toConvertRequest(members: StepMembers, target: string, environment: NodeJS.ProcessEnv): ConvertRequest {
  const {
    to,
    layerName,
    targetCrs,
    reproject,
    out: writerOptions,
    append,
    overwrite,
    replaceLayer,
    allowEmpty,
  } = members;
  const { onNameClash, verify } = members;
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
    verify,
    onNameClash,
  });
  return { ...toSourceRequest(members, environment), ...output, output: target };
}

function toSyncRequest(
  members: StepMembers,
  target: TargetMembers,
  at: YamlPlace,
  file: string,
  environment: NodeJS.ProcessEnv,
): SyncRequest {
  const { keepUnmanaged, deleteUnmanaged, scope, match, remoteField, mode = defaultSyncSettings.mode } = target;
  if (keepUnmanaged && deleteUnmanaged) throw at.error("keepUnmanaged and deleteUnmanaged exclude each other");
  if (match !== undefined && remoteField !== undefined) throw at.error("match and remoteField exclude each other");
  if (mode === "append" && remoteField !== undefined)
    throw at.error("mode append does not match features: remove remoteField");
  return {
    // Sources of two steps may have the same name, and steps may get other sources and maps.
    rejectsOwner: JSON.stringify([file, members.name]),
    source: { rejects: `${fileName(members.name)}.rejects.geojsonl`, ...toSourceRequest(members, environment) },
    map: target.map.replace(/^map:/, ""),
    mode,
    matching:
      match === "id" ? { by: "id" } : { by: "property", name: remoteField === "auto" ? null : (remoteField ?? null) },
    scope: scope === undefined ? null : readScope(scope, at),
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
    strict: members.strict ?? defaultSyncSettings.strict,
  };
}

/** The name of a step as a file name. */
const fileName = (step: string): string => step.replace(/[^\p{L}\p{N}._-]+/gu, "-");

function readScope(text: string, at: YamlPlace): SyncRequest["scope"] {
  const scope = parseScope(text);
  if (scope === null) throw at.error(`scope: "${text}" is not of the form property=value`);
  return scope;
}
