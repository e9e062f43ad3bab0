/** One job in a worker: a hand does it, and what comes of it is told to the queue. */
import { DelayedError, type Job, type Queue, UnrecoverableError, WaitingChildrenError, WaitingError } from "bullmq";
import { createError } from "../../../errors.js";
import {
  type ConversionWork,
  type JobAnswer,
  type JobFailure,
  type JobPayload,
  type JobProgress,
  toJobFailure,
  type Work,
} from "../job-payload.js";
import type { CommitRequest, JobRequest, JobResult } from "./process-messages.js";
import type { WorkerEvent } from "./queue-worker.js";
import type { Refusals } from "./refusals.js";
import type { WorkerPool } from "./worker-pool.js";

export type WorkerJob = Job<JobPayload>;

/** A job under way. */
export interface ActiveJob {
  readonly payload: JobPayload;
  /** Stops it: it was cancelled, or is to be handed back. */
  stop(): void;
  /** Stops it: it is another worker's. */
  onLockLost(): void;
}

interface JobContext {
  readonly job: WorkerJob;
  readonly queue: Queue;
  readonly token: string;
  /** BullMQ's own. */
  readonly signal: AbortSignal;
  readonly isCancelled: boolean;
  readonly processes: WorkerPool;
  readonly worker: string;
  readonly lockDuration: number;
  readonly onEvent: (news: WorkerEvent) => void;
  /** Whether the worker is ending. */
  readonly isShuttingDown: () => boolean;
  readonly refusals: Refusals;
}

/** Milliseconds between two words about how far it is. */
const progressIntervalMs = 1000;

/** Milliseconds for which no one takes a job that was refused: then a worker that waits is before the one that refused it. */
const refusalDelayMs = 500;

/** Of pieces: their parent tells what is to be told. */
const discardResult = { removeOnComplete: true, removeOnFail: { age: 3600 } } as const;

const describeWork = ({ work, step }: JobPayload): string =>
  work.kind === "pieces"
    ? `${step}: pieces ${work.task}/${work.group}`
    : work.kind === "synchronisation"
      ? `${step}: the map`
      : `${step}: ${work.inputs.map((name) => (typeof name === "string" ? name : `source ${name.textIndex + 1}${name.rest}`)).join(", ")}`;

/** @returns the job, and its answer: an object that the starter reads, or an error as BullMQ takes it */
export function takeJob(taking: JobContext): {
  readonly active: ActiveJob;
  readonly answer: Promise<JobAnswer | object>;
} {
  const aborter = new AbortController();
  let isLost = false;
  const active: ActiveJob = {
    payload: taking.job.data,
    stop: () => aborter.abort(),
    onLockLost: () => {
      isLost = true;
      aborter.abort();
    },
  };
  if (taking.isCancelled) aborter.abort();
  const stopped = AbortSignal.any([aborter.signal, taking.signal]);
  return { active, answer: runInProcess(taking, stopped, () => isLost) };
}

async function runInProcess(
  taking: JobContext,
  stopped: AbortSignal,
  isLost: () => boolean,
): Promise<JobAnswer | object> {
  const { job, worker, onEvent, processes } = taking;
  const began = performance.now();
  const what = describeWork(job.data);
  const told = { job: job.id!, what };
  const seconds = () => Math.round(performance.now() - began) / 1000;
  await requeueRefused(taking, stopped);
  const hand = await processes.acquire();
  onEvent({ type: "took", ...told });
  const before = (job.progress as unknown as JobProgress | undefined)?.processMark ?? null;
  try {
    for (;;) {
      // Redis is told before the hand can have left anything, since what one connection says comes in its order.
      job.updateProgress({ worker, processMark: hand.mark } satisfies JobProgress).catch(() => {});
      const order: JobRequest = {
        ...{ id: job.id!, payload: job.data, worker },
        ...{ previousProcessMark: before === hand.mark ? null : before, isInterrupted: before !== null },
        failures: await failuresOf(job),
      };
      const done = await hand.run(order, createCallbacks(taking, hand.mark, isLost), stopped);
      if (done.kind === "pieces" && !stopped.aborted) {
        await dispatchChunks(taking, done);
        continue;
      }
      if (done.kind === "failed" && done.isRefusal) await handleRefusal(taking, done.failure, stopped);
      else taking.refusals.reset();
      const isOpen = done.kind === "failed" || done.kind === "pieces";
      // Whoever takes it next need not clear up after this one, unless it was ended in the middle of it.
      if (isOpen && hand.isAlive && !isLost())
        await job.updateProgress({ worker, processMark: null } satisfies JobProgress);
      if (isOpen && stopped.aborted && taking.isShuttingDown() && !isLost()) {
        await keepItem(job, done);
        await job.moveToWait(taking.token);
        onEvent({ type: "returned", ...told, seconds: seconds() });
        throw new WaitingError();
      }
      const answer = await toAnswer(taking, done);
      onEvent({ type: "done", ...told, seconds: seconds() });
      return answer;
    }
  } catch (error) {
    const { name, message } = error as Error;
    if (error instanceof DelayedError)
      onEvent({ type: "refused", ...told, seconds: seconds(), message: error.message });
    else if (error instanceof WaitingChildrenError) onEvent({ type: "spread", ...told, seconds: seconds() });
    else if (!/^Waiting/.test(name)) onEvent({ type: "failed", ...told, seconds: seconds(), message: toldOf(message) });
    throw error;
  } finally {
    await processes.release(hand);
  }
}

/** Nothing where no other worker may be able to do the job: then it has failed. @throws DelayedError */
async function handleRefusal(taking: JobContext, failure: JobFailure, stopped: AbortSignal): Promise<void> {
  const { job, refusals, worker } = taking;
  const { refusedBy = [], runId } = job.data;
  const all = [...new Set([...refusedBy, refusals.id])];
  if (stopped.aborted || !(await refusals.hasOtherWorker(all))) {
    // The next try is for all workers again.
    if (refusedBy.length > 0) await job.updateData({ ...job.data, refusedBy: [] });
    return;
  }
  await job.updateData({ ...job.data, refusedBy: all });
  const notice = refusals.isNew(runId, failure.message) ? { notice: `${failure.message}; it is left to others` } : {};
  await job.updateProgress({ worker, processMark: null, ...notice } satisfies JobProgress);
  await delayForOthers(taking, failure.message, stopped);
}

/** Gives back a job that this worker has refused before. @throws DelayedError */
async function requeueRefused(taking: JobContext, stopped: AbortSignal): Promise<void> {
  const { job, refusals } = taking;
  const { refusedBy = [] } = job.data;
  if (stopped.aborted || !refusedBy.includes(refusals.id) || !(await refusals.hasOtherWorker(refusedBy))) return;
  await delayForOthers(taking, "it was refused before", stopped);
}

/** BullMQ counts no try of a job that is delayed. @throws DelayedError */
async function delayForOthers(
  { job, token, refusals }: JobContext,
  reason: string,
  stopped: AbortSignal,
): Promise<never> {
  await refusals.wait(stopped);
  await job.moveToDelayed(Date.now() + refusalDelayMs, token);
  throw new DelayedError(reason);
}

function toldOf(message: string): string {
  try {
    return (JSON.parse(message) as JobFailure).message;
  } catch {
    return message;
  }
}

/** Of a large input whose pieces were handed out. */
async function failuresOf(job: WorkerJob): Promise<string[]> {
  const { work } = job.data;
  if (work.kind !== "conversion" || !work.chunkBytes) return [];
  return Object.values(await job.getIgnoredChildrenFailures());
}

const mergeWork = (
  job: WorkerJob,
  more: Partial<ConversionWork> | { readonly previousResult: unknown },
): JobPayload => {
  return { ...job.data, work: { ...job.data.work, ...more } as Work };
};

/** What a try has done on a map is told with what the next one does. */
async function keepItem(job: WorkerJob, done: JobResult): Promise<void> {
  if (done.kind === "failed" && done.failure.itemReport)
    await job.updateData(mergeWork(job, { previousResult: done.failure.itemReport }));
}

function createCallbacks({ job, token, lockDuration, worker }: JobContext, processMark: string, isLost: () => boolean) {
  let last = Date.now();
  return {
    async onCommit(pendingCommit: CommitRequest): Promise<boolean> {
      // Should this worker end now, the next one knows the files.
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

/** The job waits for its pieces, and is taken again when they are done. @throws WaitingChildrenError */
async function dispatchChunks(
  taking: JobContext,
  { chunks, chunkBytes }: JobResult & { kind: "pieces" },
): Promise<void> {
  const { job, queue, token } = taking;
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

/** @throws Error, which is tried again, or UnrecoverableError, with the failure as its message */
async function toAnswer({ job, worker }: JobContext, done: JobResult): Promise<JobAnswer | object> {
  const tries = job.attemptsMade + 1;
  switch (done.kind) {
    case "piece":
      return {};
    case "converted":
      return { worker, tries, converted: done.converted };
    case "synchronised":
      return { worker, tries, itemReport: done.itemReport };
    case "pieces":
      throw new UnrecoverableError(JSON.stringify(toJobFailure(createError("interrupted", {}), worker)));
    case "failed": {
      const { failure, mayRetry } = done;
      await keepItem(job, done);
      const text = JSON.stringify(failure);
      throw mayRetry ? new Error(text) : new UnrecoverableError(text);
    }
  }
}
