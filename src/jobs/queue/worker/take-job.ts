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
  readonly handed: JobPayload;
  /** Stops it: it was cancelled, or is to be handed back. */
  stop(): void;
  /** Stops it: it is another worker's. */
  lose(): void;
}

interface JobContext {
  readonly job: WorkerJob;
  readonly queue: Queue;
  readonly token: string;
  /** BullMQ's own. */
  readonly signal: AbortSignal;
  readonly isCancelled: boolean;
  readonly hands: WorkerPool;
  readonly worker: string;
  readonly lockDuration: number;
  readonly tell: (news: WorkerEvent) => void;
  /** Whether the worker is ending. */
  readonly isReturning: () => boolean;
  readonly refusals: Refusals;
}

/** Milliseconds between two words about how far it is. */
const progressIntervalMs = 1000;

/** Milliseconds for which nobody takes a job that was refused: then a worker that waits is before the one that refused it. */
const refusalDelayMs = 500;

/** Of pieces: their parent tells what is to be told. */
const discardResult = { removeOnComplete: true, removeOnFail: { age: 3600 } } as const;

const describeWork = ({ work, step }: JobPayload): string =>
  work.takes === "pieces"
    ? `${step}: pieces ${work.task}/${work.group}`
    : work.takes === "synchronisation"
      ? `${step}: the map`
      : `${step}: ${work.inputs.map((name) => (typeof name === "string" ? name : `source ${name.of + 1}${name.rest}`)).join(", ")}`;

/** @returns the job, and its answer: an object that the starter reads, or an error as BullMQ takes it */
export function takeJob(taking: JobContext): {
  readonly active: ActiveJob;
  readonly answer: Promise<JobAnswer | object>;
} {
  const aborter = new AbortController();
  let isLost = false;
  const active: ActiveJob = {
    handed: taking.job.data,
    stop: () => aborter.abort(),
    lose: () => {
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
  const { job, worker, tell, hands } = taking;
  const began = performance.now();
  const what = describeWork(job.data);
  const told = { job: job.id!, what };
  const seconds = () => Math.round(performance.now() - began) / 1000;
  await requeueRefused(taking, stopped);
  const hand = await hands.take();
  tell({ type: "took", ...told });
  const before = (job.progress as unknown as JobProgress | undefined)?.hand ?? null;
  try {
    for (;;) {
      // Redis is told before the hand can have left anything, since what one connection says comes in its order.
      job.updateProgress({ worker, hand: hand.marks } satisfies JobProgress).catch(() => {});
      const order: JobRequest = {
        ...{ id: job.id!, handed: job.data, worker },
        ...{ gone: before === hand.marks ? null : before, isCut: before !== null },
        failures: await failuresOf(job),
      };
      const done = await hand.work(order, createCallbacks(taking, hand.marks, isLost), stopped);
      if (done.kind === "pieces" && !stopped.aborted) {
        await dispatchChunks(taking, done);
        continue;
      }
      if (done.kind === "failed" && done.isRefusal) await handleRefusal(taking, done.failure, stopped);
      else taking.refusals.accepted();
      const isOpen = done.kind === "failed" || done.kind === "pieces";
      // Whoever takes it next need not clear up after this one, unless it was ended in the middle of it.
      if (isOpen && hand.isAlive && !isLost()) await job.updateProgress({ worker, hand: null } satisfies JobProgress);
      if (isOpen && stopped.aborted && taking.isReturning() && !isLost()) {
        await keepItem(job, done);
        await job.moveToWait(taking.token);
        tell({ type: "returned", ...told, seconds: seconds() });
        throw new WaitingError();
      }
      const answer = await toAnswer(taking, done);
      tell({ type: "done", ...told, seconds: seconds() });
      return answer;
    }
  } catch (error) {
    const { name, message } = error as Error;
    if (error instanceof DelayedError) tell({ type: "refused", ...told, seconds: seconds(), message: error.message });
    else if (error instanceof WaitingChildrenError) tell({ type: "spread", ...told, seconds: seconds() });
    else if (!/^Waiting/.test(name)) tell({ type: "failed", ...told, seconds: seconds(), message: toldOf(message) });
    throw error;
  } finally {
    await hands.giveBack(hand);
  }
}

/** Nothing where no other worker may be able to do the job: then it has failed. @throws DelayedError */
async function handleRefusal(taking: JobContext, failure: JobFailure, stopped: AbortSignal): Promise<void> {
  const { job, refusals, worker } = taking;
  const { refusedBy = [], run } = job.data;
  const all = [...new Set([...refusedBy, refusals.id])];
  if (stopped.aborted || !(await refusals.mayGoTo(all))) {
    // The next try is for all workers again.
    if (refusedBy.length > 0) await job.updateData({ ...job.data, refusedBy: [] });
    return;
  }
  await job.updateData({ ...job.data, refusedBy: all });
  const notice = refusals.isNew(run, failure.message) ? { notice: `${failure.message}; it is left to others` } : {};
  await job.updateProgress({ worker, hand: null, ...notice } satisfies JobProgress);
  await delayForOthers(taking, failure.message, stopped);
}

/** Gives back a job that this worker has refused before. @throws DelayedError */
async function requeueRefused(taking: JobContext, stopped: AbortSignal): Promise<void> {
  const { job, refusals } = taking;
  const { refusedBy = [] } = job.data;
  if (stopped.aborted || !refusedBy.includes(refusals.id) || !(await refusals.mayGoTo(refusedBy))) return;
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
  if (work.takes !== "conversion" || !work.spread) return [];
  return Object.values(await job.getIgnoredChildrenFailures());
}

const mergeWork = (job: WorkerJob, more: Partial<ConversionWork> | { readonly before: unknown }): JobPayload => {
  return { ...job.data, work: { ...job.data.work, ...more } as Work };
};

/** What a try has done on a map is told with what the next one does. */
async function keepItem(job: WorkerJob, done: JobResult): Promise<void> {
  if (done.kind === "failed" && done.failure.item) await job.updateData(mergeWork(job, { before: done.failure.item }));
}

function createCallbacks({ job, token, lockDuration, worker }: JobContext, hand: string, isLost: () => boolean) {
  let last = Date.now();
  return {
    async commit(begun: CommitRequest): Promise<boolean> {
      // Should this worker end now, the next one knows the files.
      if ((await job.extendLock(token, lockDuration)) <= 0 || isLost()) return false;
      await job.updateData(mergeWork(job, { begun }));
      return !isLost();
    },
    progress(features: number): void {
      if (Date.now() - last < progressIntervalMs) return;
      last = Date.now();
      job.updateProgress({ worker, hand, features } satisfies JobProgress).catch(() => {});
    },
    notice(sentence: string): void {
      job.updateProgress({ worker, hand, notice: sentence } satisfies JobProgress).catch(() => {});
      job.log(sentence).catch(() => {});
    },
  };
}

/** The job waits for its pieces, and is taken again when they are done. @throws WaitingChildrenError */
async function dispatchChunks(taking: JobContext, { pieces, bytes }: JobResult & { kind: "pieces" }): Promise<void> {
  const { job, queue, token } = taking;
  await job.updateData(mergeWork(job, { spread: bytes }));
  const { attempts, backoff } = job.opts;
  const parent = { id: job.id!, queue: job.queueQualifiedName };
  await queue.addBulk(
    pieces.map((work) => ({
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
      return { worker, tries, item: done.item };
    case "pieces":
      throw new UnrecoverableError(JSON.stringify(toJobFailure(createError("interrupted", {}), worker)));
    case "failed": {
      const { failure, again } = done;
      await keepItem(job, done);
      const text = JSON.stringify(failure);
      throw again ? new Error(text) : new UnrecoverableError(text);
    }
  }
}
