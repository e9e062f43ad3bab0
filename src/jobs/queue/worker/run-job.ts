/** What a hand of a worker does with an order: it finds the step in the job's file, sees that all is as it was, and does it. */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { asGeoferryError, createError, type GeoferryError } from "../../../errors.js";
import { describeSystemError } from "../../../io/input/source.js";
import { withNetworkSettings } from "../../../network-settings.js";
import type { Registry } from "../../../plugin/registry.js";
import { readStateId } from "../../../sync/state/state-folder.js";
import { withSpan } from "../../../tracing/span.js";
import { version } from "../../../version.js";
import { readJob } from "../../file/read-job.js";
import type { Job, Step, SyncStep } from "../../job.js";
import { toErrorReport } from "../../report/run-report.js";
import { mergeItems } from "../../run/run-step.js";
import type { StepContext } from "../../run/step-context.js";
import { isRepeatable, transientKinds } from "../../steps/repeatable.js";
import { runSyncStep } from "../../steps/sync-step.js";
import { findDifference } from "../input-names.js";
import { digestStep, digestText, type JobPayload, type SyncWork, toJobFailure } from "../job-payload.js";
import type { CommitRequest, JobRequest, JobResult } from "./process-messages.js";
import { runChunks } from "./run-chunks.js";
import { runConversion } from "./run-conversion.js";

/** What a hand works with. */
export interface WorkerContext {
  readonly registry: Registry;
  /** Threads of one conversion. */
  readonly threads: number;
  /** Bytes from which on the pieces of an input are worked on by several workers. */
  readonly splitAbove: number;
  readonly stateRoot: string;
  /** @param service where the maps are, where the order says it */
  toolsFor(job: Job, service: Pick<SyncWork, "service" | "insecureHttp"> | null): StepContext;
}

/** Whom a hand asks and tells. */
export interface ParentChannel {
  /** Asks whether outputs may get their names: the job is still this worker's. @throws interrupted */
  requestCommit(begun: CommitRequest): Promise<void>;
  progress(features: number): void;
  notice(sentence: string): void;
}

/** Never throws. */
export function runJob(
  order: JobRequest,
  shop: WorkerContext,
  superior: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker } = order;
  const { kind } = payload.work;
  const attributes = { "geoferry.worker": worker, "geoferry.step": payload.step, "geoferry.takes": kind };
  return withSpan("work", { attributes, ...(payload.trace && { parent: payload.trace }) }, async (span) => {
    const done = await verifyAndRun(order, shop, superior, signal);
    if (done.kind === "failed") span.fail(done.failure.code, done.failure.message);
    return done;
  });
}

async function verifyAndRun(
  order: JobRequest,
  shop: WorkerContext,
  superior: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker } = order;
  let step: Step | null = null;
  try {
    checkWorker(order, shop);
    if (payload.work.kind === "pieces") {
      await runChunks(payload.work, shop.registry, signal);
      return { kind: "piece" };
    }
    const job = await jobOf(order);
    step = stepOf(job, order, shop);
    return await withNetworkSettings(step.network, () => runStep(job, step!, order, shop, superior, signal));
  } catch (error) {
    const told = signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);
    const mayRetry = step === null ? transientKinds.includes(told.kind) : isRepeatable(step, told.kind);
    const refusal = told.code === "worker-incompatible" ? ({ isRefusal: true } as const) : {};
    return { kind: "failed", failure: toJobFailure(told, worker), mayRetry, ...refusal };
  }
}

function runStep(
  job: Job,
  step: Step,
  order: JobRequest,
  shop: WorkerContext,
  superior: ParentChannel,
  signal: AbortSignal,
) {
  const { work } = order.payload;
  if (work.kind === "synchronisation") return runSync(order, step, shop.toolsFor(job, work), superior, signal);
  return runConversion(order, step, shop.toolsFor(job, null), shop, superior, signal);
}

const workerUnfitError = ({ worker }: JobRequest, reason: string, cause?: unknown): GeoferryError =>
  createError("worker-incompatible", { worker, reason }, cause);

/** @throws worker-incompatible */
function checkWorker(order: JobRequest, { registry, stateRoot }: WorkerContext): void {
  const { version: wanted, formats, file, work } = order.payload;
  if (wanted !== version)
    throw workerUnfitError(
      order,
      `it is geoferry ${version}, and the run was started by geoferry ${wanted}: install one version everywhere`,
    );
  const known = new Set(registry.all().map(({ id }) => id));
  const missing = formats.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw workerUnfitError(
      order,
      `it does not know the format ${missing.join(", ")}: start it with the --plugin of the run`,
    );
  try {
    process.chdir(dirname(file));
  } catch (error) {
    throw workerUnfitError(order, `${dirname(file)}: ${describeSystemError(error)}: is the storage shared?`, error);
  }
  if (work.kind !== "synchronisation" || readStateId(stateRoot) === work.state) return;
  throw workerUnfitError(
    order,
    `its folder of states, ${stateRoot}, is not that of the command that started the run: give both the same --state on shared storage, or journals of maps would be missed`,
  );
}

/** The job as this machine reads it: references are resolved in the worker's own environment. @throws worker-incompatible */
async function jobOf(order: JobRequest): Promise<Job> {
  const { file, digest } = order.payload;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw workerUnfitError(order, `${file}: ${describeSystemError(error)}: is the storage shared?`, error);
  }
  if (digestText(text) !== digest)
    throw workerUnfitError(
      order,
      `${file} is another file here: is the storage shared, or was it changed since the run began?`,
    );
  try {
    return readJob(text, file, process.env);
  } catch (error) {
    throw workerUnfitError(order, (error as Error).message, error);
  }
}

/** @throws worker-incompatible */
function stepOf({ steps }: Job, order: JobRequest, { registry }: WorkerContext): Step {
  const { step: name, settings }: JobPayload = order.payload;
  const step = steps.find((one) => one.name === name);
  if (step && digestStep(step, registry) === settings) return step;
  throw workerUnfitError(
    order,
    `its environment makes another step of "${name}": variables of the job, or GEOFERRY_GRIDS, differ`,
  );
}

async function runSync(
  order: JobRequest,
  step: Step,
  tools: StepContext,
  superior: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker } = order;
  const work = payload.work as SyncWork;
  const { map, mode } = (step as SyncStep).request;
  const isAppended = mode === "append";
  if (isAppended && order.isInterrupted) throw createError("append-interrupted", { map });
  const difference = work.sources && findDifference(work.sources);
  if (difference !== null) throw workerUnfitError(order, difference);
  const host = { ...tools.host, signal, now: new Date(payload.now) };
  const onNotice = (sentence: string) => superior.notice(sentence);
  const done = await runSyncStep(step as SyncStep, { ...tools, host, onNotice });
  const [item] = mergeItems(work.previousResult ? [work.previousResult] : [], [done]);
  const { error } = item!;
  const isStopped = error?.kind === "interrupted";
  // Another worker would append again what this one has.
  if (isStopped && isAppended)
    return {
      kind: "synchronised",
      itemReport: { ...item!, error: toErrorReport(createError("append-interrupted", { map })) },
    };
  const mayRetry = error !== null && isRepeatable(step, error.kind);
  if (error === null || !(mayRetry || isStopped)) return { kind: "synchronised", itemReport: item! };
  return { kind: "failed", failure: { ...error, code: error.code as never, worker, itemReport: item! }, mayRetry };
}
