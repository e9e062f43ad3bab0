/** Runs one queue job in a worker process and reports its result to the queue. */
import { DelayedError, type Job, type Queue, UnrecoverableError, WaitingChildrenError, WaitingError } from "bullmq";
import { asGeoferryError, createError } from "../../../errors.js";
import {
  type ConversionWork,
  type JobFailure,
  type JobPayload,
  type JobProgress,
  type JobReturnValue,
  toJobFailure,
  type Work,
} from "../job-payload.js";
import type { CommitRequest, JobRequest, JobResult } from "./process-messages.js";
import type { WorkerEvent } from "./queue-worker.js";
import type { Refusals } from "./refusals.js";
import type { WorkerPool } from "./worker-pool.js";

export type WorkerJob = Job<JobPayload>;

export interface ActiveJob {
  readonly payload: JobPayload;
  /** Stops the job because it was cancelled, or to requeue it. */
  stop(): void;
  /** Stops the job because another worker owns it. */
  onLockLost(): void;
}

interface JobContext {
  readonly job: WorkerJob;
  readonly queue: Queue;
  readonly token: string;
  /** Cancellation by BullMQ. */
  readonly signal: AbortSignal;
  readonly isCancelled: boolean;
  readonly processes: WorkerPool;
  readonly worker: string;
  readonly lockDuration: number;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly isShuttingDown: () => boolean;
  readonly refusals: Refusals;
}

const progressIntervalMs = 1000;

/** Delay before a refused job can be taken again, so that an idle worker gets it before the one that refused it. */
const refusalDelayMs = 500;

/** For chunks: the parent job reports their outcome. */
const discardResult = { removeOnComplete: true, removeOnFail: { age: 3600 } } as const;

const describeWork = ({ work, step }: JobPayload): string =>
  work.kind === "chunk"
    ? `${step}: chunk ${work.task}/${work.group}`
    : work.kind === "sync"
      ? `${step}: the map`
      : `${step}: ${work.inputs.map((name) => (typeof name === "string" ? name : `source ${name.textIndex + 1}${name.rest}`)).join(", ")}`;

/** `returnValue` resolves to the return value of the queue job, or rejects with an error for BullMQ. */
export function takeJob(context: JobContext): {
  readonly active: ActiveJob;
  readonly returnValue: Promise<JobReturnValue | object>;
} {
  const aborter = new AbortController();
  let isLost = false;
  const active: ActiveJob = {
    payload: context.job.data,
    stop: () => aborter.abort(),
    onLockLost: () => {
      isLost = true;
      aborter.abort();
    },
  };
  if (context.isCancelled) aborter.abort();
  const stopped = AbortSignal.any([aborter.signal, context.signal]);
  return { active, returnValue: runInProcess(context, stopped, () => isLost) };
}

async function runInProcess(
  context: JobContext,
  stopped: AbortSignal,
  isLost: () => boolean,
): Promise<JobReturnValue | object> {
  const { job, worker, onEvent, processes } = context;
  const began = performance.now();
  const what = describeWork(job.data);
  const description = { job: job.id!, what };
  const seconds = () => Math.round(performance.now() - began) / 1000;
  await requeueRefused(context, stopped);
  const workerProcess = await processes.acquire(worker).catch((error: unknown) => {
    throw new Error(JSON.stringify(toJobFailure(asGeoferryError(error), worker)));
  });
  onEvent({ type: "started", ...description });
  const before = (job.progress as unknown as JobProgress | undefined)?.processMark ?? null;
  try {
    for (;;) {
      // Redis gets the mark before the process creates files, since commands of a connection keep their order.
      job.updateProgress({ worker, processMark: workerProcess.mark } satisfies JobProgress).catch(() => {});
      const request: JobRequest = {
        ...{ id: job.id!, payload: job.data, worker },
        ...{ previousProcessMark: before === workerProcess.mark ? null : before, isInterrupted: before !== null },
        failures: await chunkFailures(job),
      };
      const done = await workerProcess.run(request, createCallbacks(context, workerProcess.mark, isLost), stopped);
      if (done.kind === "chunks-pending" && !stopped.aborted) {
        await dispatchChunks(context, done);
        continue;
      }
      if (done.kind === "failed" && done.isRefusal) await handleRefusal(context, done.failure, stopped);
      else context.refusals.reset();
      const isOpen = done.kind === "failed" || done.kind === "chunks-pending";
      // A process that has stopped cleanly leaves no temporary files for the next worker to delete.
      if (isOpen && workerProcess.isAlive && !isLost())
        await job.updateProgress({ worker, processMark: null } satisfies JobProgress);
      if (isOpen && stopped.aborted && context.isShuttingDown() && !isLost()) {
        await saveItemReport(job, done);
        await job.moveToWait(context.token);
        onEvent({ type: "requeued", ...description, seconds: seconds() });
        throw new WaitingError();
      }
      const returnValue = await toReturnValue(context, done);
      onEvent({ type: "done", ...description, seconds: seconds() });
      return returnValue;
    }
  } catch (error) {
    const { name, message } = error as Error;
    if (error instanceof DelayedError)
      onEvent({ type: "refused", ...description, seconds: seconds(), message: error.message });
    else if (error instanceof WaitingChildrenError) onEvent({ type: "split", ...description, seconds: seconds() });
    else if (!/^Waiting/.test(name))
      onEvent({ type: "failed", ...description, seconds: seconds(), message: failureMessage(message) });
    throw error;
  } finally {
    await processes.release(workerProcess);
  }
}

/** Requeues a refused job; returns if no other worker can take it, so that the job fails. @throws DelayedError */
async function handleRefusal(context: JobContext, failure: JobFailure, stopped: AbortSignal): Promise<void> {
  const { job, refusals, worker } = context;
  const { refusedBy = [], runId } = job.data;
  const all = [...new Set([...refusedBy, refusals.id])];
  if (stopped.aborted || !(await refusals.hasOtherWorker(all))) {
    // A retry may go to any worker.
    if (refusedBy.length > 0) await job.updateData({ ...job.data, refusedBy: [] });
    return;
  }
  await job.updateData({ ...job.data, refusedBy: all });
  const notice = refusals.isNew(runId, failure.message)
    ? { notice: `${failure.message}; other workers take the job` }
    : {};
  await job.updateProgress({ worker, processMark: null, ...notice } satisfies JobProgress);
  await delayForOthers(context, failure.message, stopped);
}

/** Requeues a job that this worker has refused before. @throws DelayedError */
async function requeueRefused(context: JobContext, stopped: AbortSignal): Promise<void> {
  const { job, refusals } = context;
  const { refusedBy = [] } = job.data;
  if (stopped.aborted || !refusedBy.includes(refusals.id) || !(await refusals.hasOtherWorker(refusedBy))) return;
  await delayForOthers(context, "this worker has refused it before", stopped);
}

/** BullMQ does not count a delayed job as an attempt. @throws DelayedError */
async function delayForOthers(
  { job, token, refusals }: JobContext,
  reason: string,
  stopped: AbortSignal,
): Promise<never> {
  await refusals.wait(stopped);
  await job.moveToDelayed(Date.now() + refusalDelayMs, token);
  throw new DelayedError(reason);
}

function failureMessage(message: string): string {
  try {
    return (JSON.parse(message) as JobFailure).message;
  } catch {
    return message;
  }
}

/** Failure reasons of the chunks of a large input. */
async function chunkFailures(job: WorkerJob): Promise<string[]> {
  const { work } = job.data;
  if (work.kind !== "conversion" || !work.chunkBytes) return [];
  return Object.values(await job.getIgnoredChildrenFailures());
}

const mergeWork = (
  job: WorkerJob,
  changes: Partial<ConversionWork> | { readonly previousResult: unknown },
): JobPayload => {
  return { ...job.data, work: { ...job.data.work, ...changes } as Work };
};

/** Stores what an attempt changed on a map, so that the report of the next attempt includes it. */
async function saveItemReport(job: WorkerJob, done: JobResult): Promise<void> {
  if (done.kind === "failed" && done.failure.itemReport)
    await job.updateData(mergeWork(job, { previousResult: done.failure.itemReport }));
}

function createCallbacks({ job, token, lockDuration, worker }: JobContext, processMark: string, isLost: () => boolean) {
  let last = Date.now();
  return {
    async onCommit(pendingCommit: CommitRequest): Promise<boolean> {
      // Saved before the files are renamed: if this worker ends, the next one recognizes them.
      if ((await job.extendLock(token, lockDuration)) <= 0 || isLost()) return false;
      await job.updateData(mergeWork(job, { pendingCommit }));
      return !isLost();
    },
    onProgress(features: number): void {
      if (Date.now() - last < progressIntervalMs) return;
      last = Date.now();
      job.updateProgress({ worker, processMark, features } satisfies JobProgress).catch(() => {});
    },
    onNotice(sentence: string): void {
      job.updateProgress({ worker, processMark, notice: sentence } satisfies JobProgress).catch(() => {});
      job.log(sentence).catch(() => {});
    },
  };
}

/** Adds jobs for the chunks; the job itself continues when they are done. @throws WaitingChildrenError */
async function dispatchChunks(
  context: JobContext,
  { chunks, chunkBytes }: JobResult & { kind: "chunks-pending" },
): Promise<void> {
  const { job, queue, token } = context;
  await job.updateData(mergeWork(job, { chunkBytes }));
  const { attempts, backoff } = job.opts;
  const parent = { id: job.id!, queue: job.queueQualifiedName };
  await queue.addBulk(
    chunks.map((work) => ({
      name: job.name,
      data: { ...job.data, work } satisfies JobPayload,
      opts: {
        ...{
          parent,
          jobId: `${job.id}.${work.task}-${work.group}`,
          ignoreDependencyOnFailure: true,
          stackTraceLimit: 0,
        },
        ...{ attempts: attempts ?? 1, ...(backoff === undefined ? {} : { backoff }), ...discardResult },
      },
    })),
  );
  if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
}

/** @throws Error, which BullMQ retries, or UnrecoverableError; the message is a `JobFailure` as JSON */
async function toReturnValue({ job, worker }: JobContext, done: JobResult): Promise<JobReturnValue | object> {
  const attempts = job.attemptsMade + 1;
  switch (done.kind) {
    case "chunk":
      return {};
    case "converted":
      return { worker, attempts, converted: done.converted };
    case "synced":
      return { worker, attempts, itemReport: done.itemReport };
    case "chunks-pending":
      throw new UnrecoverableError(JSON.stringify(toJobFailure(createError("interrupted", {}), worker)));
    case "failed": {
      const { failure, mayRetry } = done;
      await saveItemReport(job, done);
      const text = JSON.stringify(failure);
      throw mayRetry ? new Error(text) : new UnrecoverableError(text);
    }
  }
}
