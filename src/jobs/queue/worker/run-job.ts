/** Runs one job in a worker process after verifying its inputs. */
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

export interface WorkerContext {
  readonly registry: Registry;
  /** Number of threads of one conversion. */
  readonly threads: number;
  /** Inputs of at least this many bytes are split among workers. */
  readonly splitAbove: number;
  readonly stateRoot: string;
  /** @param service of the maps, if the job syncs to one */
  createStepContext(job: Job, service: Pick<SyncWork, "service" | "insecureHttp"> | null): StepContext;
}

/** What a worker process sends to its worker. */
export interface ParentChannel {
  /** Resolves if the worker still owns the job, so that outputs may get their final names. @throws interrupted */
  requestCommit(commit: CommitRequest): Promise<void>;
  progress(features: number): void;
  notice(sentence: string): void;
}

/** Never throws. */
export function runJob(
  jobRequest: JobRequest,
  context: WorkerContext,
  parent: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker } = jobRequest;
  const { kind } = payload.work;
  const attributes = { "geoferry.worker": worker, "geoferry.step": payload.step, "geoferry.work": kind };
  return withSpan("work", { attributes, ...(payload.trace && { parent: payload.trace }) }, async (span) => {
    const done = await verifyAndRun(jobRequest, context, parent, signal);
    if (done.kind === "failed") span.fail(done.failure.code, done.failure.message);
    return done;
  });
}

async function verifyAndRun(
  jobRequest: JobRequest,
  context: WorkerContext,
  parent: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker } = jobRequest;
  let step: Step | null = null;
  try {
    checkWorker(jobRequest, context);
    if (payload.work.kind === "chunk") {
      await runChunks(payload.work, context.registry, signal);
      return { kind: "chunk" };
    }
    const job = await readRequestedJob(jobRequest);
    step = findStep(job, jobRequest, context);
    return await withNetworkSettings(step.network, () => runStep(job, step!, jobRequest, context, parent, signal));
  } catch (error) {
    const failure = signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);
    const mayRetry = step === null ? transientKinds.includes(failure.kind) : isRepeatable(step, failure.kind);
    const refusal = failure.code === "worker-incompatible" ? ({ isRefusal: true } as const) : {};
    return { kind: "failed", failure: toJobFailure(failure, worker), mayRetry, ...refusal };
  }
}

function runStep(
  job: Job,
  step: Step,
  jobRequest: JobRequest,
  context: WorkerContext,
  parent: ParentChannel,
  signal: AbortSignal,
) {
  const { work } = jobRequest.payload;
  if (work.kind === "sync") return runSync(jobRequest, step, context.createStepContext(job, work), parent, signal);
  return runConversion(jobRequest, step, context.createStepContext(job, null), context, parent, signal);
}

const incompatibleError = ({ worker }: JobRequest, reason: string, cause?: unknown): GeoferryError =>
  createError("worker-incompatible", { worker, reason }, cause);

/** @throws worker-incompatible */
function checkWorker(jobRequest: JobRequest, { registry, stateRoot }: WorkerContext): void {
  const { version: wanted, formats, file, work } = jobRequest.payload;
  if (wanted !== version)
    throw incompatibleError(
      jobRequest,
      `it is geoferry ${version}, but geoferry ${wanted} started the run; install the same version everywhere`,
    );
  const known = new Set(registry.all().map(({ id }) => id));
  const missing = formats.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw incompatibleError(
      jobRequest,
      `it does not know the format ${missing.join(", ")}; start it with the same --plugin as the run`,
    );
  try {
    process.chdir(dirname(file));
  } catch (error) {
    throw incompatibleError(
      jobRequest,
      `${dirname(file)}: ${describeSystemError(error)}; put the job file on shared storage`,
      error,
    );
  }
  if (work.kind !== "sync" || readStateId(stateRoot) === work.state) return;
  throw incompatibleError(
    jobRequest,
    `its state folder, ${stateRoot}, is not that of the command that started the run; give both the same --state on shared storage, so that they share the journals of maps`,
  );
}

/** Reads the job file with the environment of this worker. @throws worker-incompatible */
async function readRequestedJob(jobRequest: JobRequest): Promise<Job> {
  const { file, digest } = jobRequest.payload;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw incompatibleError(
      jobRequest,
      `${file}: ${describeSystemError(error)}; put the job file on shared storage`,
      error,
    );
  }
  if (digestText(text) !== digest)
    throw incompatibleError(
      jobRequest,
      `${file} has other contents here; put the job file on shared storage, and do not change it during a run`,
    );
  try {
    return readJob(text, file, process.env);
  } catch (error) {
    throw incompatibleError(jobRequest, (error as Error).message, error);
  }
}

/** @throws worker-incompatible */
function findStep({ steps }: Job, jobRequest: JobRequest, { registry }: WorkerContext): Step {
  const { step: name, settings }: JobPayload = jobRequest.payload;
  const step = steps.find((one) => one.name === name);
  if (step && digestStep(step, registry) === settings) return step;
  throw incompatibleError(
    jobRequest,
    `its environment changes the step "${name}"; give variables of the job and GEOFERRY_GRIDS the same values everywhere`,
  );
}

async function runSync(
  jobRequest: JobRequest,
  step: Step,
  stepContext: StepContext,
  parent: ParentChannel,
  signal: AbortSignal,
): Promise<JobResult> {
  const { payload, worker } = jobRequest;
  const work = payload.work as SyncWork;
  const { map, mode } = (step as SyncStep).request;
  const isAppended = mode === "append";
  if (isAppended && jobRequest.isInterrupted) throw createError("append-interrupted", { map });
  const difference = work.sources && findDifference(work.sources);
  if (difference !== null) throw incompatibleError(jobRequest, difference);
  const host = { ...stepContext.host, signal, now: new Date(payload.now) };
  const onNotice = (sentence: string) => parent.notice(sentence);
  const done = await runSyncStep(step as SyncStep, { ...stepContext, host, onNotice });
  const [item] = mergeItems(work.previousResult ? [work.previousResult] : [], [done]);
  const { error } = item!;
  const isStopped = error?.kind === "interrupted";
  // A retry would append the same features again.
  if (isStopped && isAppended)
    return {
      kind: "synced",
      itemReport: { ...item!, error: toErrorReport(createError("append-interrupted", { map })) },
    };
  const mayRetry = error !== null && isRepeatable(step, error.kind);
  if (error === null || !(mayRetry || isStopped)) return { kind: "synced", itemReport: item! };
  return { kind: "failed", failure: { ...error, code: error.code as never, worker, itemReport: item! }, mayRetry };
}
