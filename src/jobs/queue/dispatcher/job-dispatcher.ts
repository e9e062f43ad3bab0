/**
 * The producer side of a queue: enqueues the jobs of a run and waits for their results across failures of workers and of
 * Redis. Queue events report results; polling finds those whose events were missed.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type FlowJob, FlowProducer, type Job, type JobsOptions, Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import type { GeoferryError } from "../../../errors.js";
import { withAbort } from "../../../io/with-abort.js";
import { version } from "../../../version.js";
import { checkQueueKeys, checkQueueList } from "../check-keys.js";
import { checkCommands, connectionOptions, isRefusal, noop, openRedis, toConnectionError } from "../connection.js";
import {
  type JobFailure,
  type JobPayload,
  type JobProgress,
  type JobReturnValue,
  readFailure,
  toJobFailure,
} from "../job-payload.js";
import { type Cancellation, cancelChannel, isMapQueue, queuesKey, resultRetention } from "../queue-names.js";
import { ensureReadableJob } from "../repair-job.js";
import { type ConnectedWorker, describeWorkers, listConnectedWorkers } from "./connected-workers.js";
import type { DispatcherSettings } from "./settings.js";

export type DispatchedJob = Job<JobPayload, JobReturnValue>;

export type JobOutcome =
  | { readonly returnValue: JobReturnValue }
  | { readonly failure: JobFailure; readonly attempts: number };

export interface JobEntry {
  readonly queue: string;
  readonly id: string;
  readonly payload: JobPayload;
  readonly options: JobsOptions;
  /** Input and step, for messages. */
  readonly label: string;
  /** The failure of the job if Redis loses it; absent if it may run twice. */
  readonly lossError?: GeoferryError;
}

/** Called with each job before and after it is removed; the removal fails if a worker has taken the job. */
export interface RemovalHooks {
  beforeRemove(job: DispatchedJob): void;
  onRemoved(job: DispatchedJob): void;
}

interface PendingJob {
  readonly entry: JobEntry;
  readonly resolve: (outcome: JobOutcome) => void;
  /** Consecutive polls that did not find the job in Redis. */
  missedChecks: number;
}

interface OpenQueue {
  readonly queue: Queue<JobPayload, JobReturnValue>;
  readonly events: QueueEvents;
}

export interface DispatcherEvents {
  onNotice(sentence: string): void;
  onJobProgress(entry: JobEntry, progress: JobProgress): void;
}

/** Polling interval for missed events. */
const pollIntervalMs = 3000;
const jobsPerPoll = 200;
/** Time limit for workers to release cancelled jobs. */
const cancelTimeoutMs = 15_000;
const closeTimeoutMs = 2000;
/** Redis counts as unavailable if it does not answer within this time. */
const pingTimeoutMs = 2000;
/** Time without activity after which a missing worker is reported. */
const noWorkerWarningMs = 10_000;
/** Finished jobs that Redis keeps until their run has read them. */
const keptResults = { age: resultRetention, count: 100_000 };

const jobOptions = (id: string, options: JobsOptions): JobsOptions => ({
  ...options,
  ...{ jobId: id, removeOnComplete: keptResults, removeOnFail: keptResults },
});

const keyOf = ({ queue, id }: Pick<JobEntry, "queue" | "id">): string => `${queue}/${id}`;

export class JobDispatcher implements AsyncDisposable {
  private readonly queues = new Map<string, Promise<OpenQueue>>();
  private readonly pending = new Map<string, PendingJob>();
  private readonly flows: FlowProducer;
  private readonly removals = new Set<Promise<unknown>>();
  private readonly timer: NodeJS.Timeout;
  private polling: Promise<void> = Promise.resolve();
  private lastActivity = Date.now();
  private closed = false;

  private constructor(
    readonly settings: DispatcherSettings,
    private readonly redis: Redis,
    private readonly events: DispatcherEvents,
  ) {
    this.flows = new FlowProducer(this.options);
    this.flows.on("error", noop);
    this.timer = setInterval(() => {
      this.polling = this.polling.then(() => this.poll()).catch(noop);
    }, pollIntervalMs);
  }

  /** @throws queue-unavailable, queue-forbidden, queue-incompatible, queue-not-accepting */
  static async open(settings: DispatcherSettings, events: DispatcherEvents): Promise<JobDispatcher> {
    const redis = await openRedis(settings.address, settings.prefix, events.onNotice);
    try {
      await checkQueueList(redis, settings);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    return new JobDispatcher(settings, redis, events);
  }

  private get options() {
    return { connection: this.redis, prefix: this.settings.prefix, skipVersionCheck: true };
  }

  /** @throws queue-not-accepting */
  open(name: string): Promise<OpenQueue> {
    const known = this.queues.get(name);
    if (known) return known;
    const opened = this.openQueue(name);
    this.queues.set(name, opened);
    return opened;
  }

  private async openQueue(name: string): Promise<OpenQueue> {
    await checkQueueKeys(this.redis, this.settings, name);
    const queue = new Queue<JobPayload, JobReturnValue>(name, this.options);
    queue.on("error", noop);
    const events = new QueueEvents(name, {
      ...{ prefix: this.settings.prefix, skipVersionCheck: true },
      connection: connectionOptions(this.settings.address),
    });
    events.on("error", noop);
    events.on("completed", ({ jobId, returnvalue }) => {
      this.resolveJob({ queue: name, id: jobId }, { returnValue: returnvalue as unknown as JobReturnValue });
    });
    events.on("failed", ({ jobId }) => void this.checkJob(name, jobId).catch(noop));
    events.on("delayed", ({ jobId }) => void this.reportRetry(name, jobId).catch(noop));
    events.on("stalled", ({ jobId }) => {
      const found = this.pending.get(keyOf({ queue: name, id: jobId }));
      if (found) this.events.onNotice(`${found.entry.label}: its worker stopped responding; another worker takes over`);
    });
    events.on("progress", ({ jobId, data }) => {
      const found = this.pending.get(keyOf({ queue: name, id: jobId }));
      this.lastActivity = Date.now();
      if (found) this.events.onJobProgress(found.entry, data as unknown as JobProgress);
    });
    await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
    // A map has one writer.
    if (isMapQueue(name)) await queue.setGlobalConcurrency(1);
    return { queue, events };
  }

  /** Enqueues jobs, all or none. If Redis refuses them, they fail. */
  async add(entries: readonly JobEntry[]): Promise<void> {
    try {
      await this.enqueue(entries);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      for (const entry of entries) this.refuse(entry, error);
    }
  }

  private async enqueue(entries: readonly JobEntry[]): Promise<void> {
    const [first] = entries;
    if (!first) return;
    const { queue } = await this.open(first.queue);
    await this.registerQueue(first.queue);
    await queue.addBulk(
      entries.map(({ payload, id, options }) => ({
        name: payload.step,
        data: payload,
        opts: jobOptions(id, options),
      })),
    );
  }

  /** Enqueues a job with the jobs that must finish before it; if one of them fails, it fails, too. */
  async addFlow(parent: JobEntry, children: readonly JobEntry[]): Promise<void> {
    const jobOf = ({ queue, payload, id, options }: JobEntry): FlowJob => ({
      ...{ name: payload.step, queueName: queue, data: payload },
      opts: jobOptions(id, options),
    });
    await Promise.all([parent, ...children].map(({ queue }) => this.open(queue)));
    for (const name of new Set([parent, ...children].map(({ queue }) => queue))) await this.registerQueue(name);
    await this.flows.add({
      ...jobOf(parent),
      children: children.map((child) => {
        const job = jobOf(child);
        return { ...job, opts: { ...job.opts, failParentOnFailure: true } };
      }),
    });
  }

  /** Makes a queue known to workers and to later runs. */
  private async registerQueue(name: string): Promise<void> {
    await this.redis.zadd(queuesKey(this.settings.prefix), Date.now(), name);
  }

  /** Names of the queues, of all versions, that had a job recently. */
  registeredQueues(): Promise<string[]> {
    return this.redis.zrangebyscore(queuesKey(this.settings.prefix), "-inf", "+inf");
  }

  /** @returns null if the server does not allow listing connections */
  workers(): Promise<readonly ConnectedWorker[] | null> {
    return listConnectedWorkers(this.redis, this.settings.prefix);
  }

  /** Waits for the outcome of a job. @param signal ends the wait @throws interrupted */
  async waitFor(entry: JobEntry, signal: AbortSignal): Promise<JobOutcome> {
    const key = keyOf(entry);
    const ended = new Promise<JobOutcome>((resolve) => this.pending.set(key, { entry, resolve, missedChecks: 0 }));
    try {
      return await withAbort(ended, signal);
    } finally {
      this.pending.delete(key);
    }
  }

  /** @throws queue-not-accepting if its key has another type */
  async readJob(queueName: string, id: string): Promise<DispatchedJob | undefined> {
    const { queue } = await this.open(queueName);
    await ensureReadableJob(this.redis, queue.toKey(id), this.settings.address);
    return queue.getJob(id);
  }

  /** Looks a job up in Redis, and resolves its waiter if it has finished. @returns whether the job exists */
  async checkJob(queueName: string, id: string): Promise<boolean> {
    const job = await this.readJob(queueName, id);
    if (!job) return false;
    if (job.finishedOn === undefined || job.finishedOn === null) return true;
    const what = this.pending.get(keyOf({ queue: queueName, id }))?.entry.label ?? id;
    this.resolveJob({ queue: queueName, id }, readOutcome(job, what));
    return true;
  }

  private resolveJob(at: Pick<JobEntry, "queue" | "id">, outcome: JobOutcome): void {
    this.lastActivity = Date.now();
    const key = keyOf(at);
    const found = this.pending.get(key);
    if (!found) return;
    this.pending.delete(key);
    found.resolve(outcome);
  }

  /** Removes finished jobs in the background. */
  removeJobs(entries: readonly Pick<JobEntry, "queue" | "id">[]): void {
    for (const { queue: name, id } of entries) {
      const removal = this.open(name)
        .then(({ queue }) => removeWithChunks(queue, id))
        .catch(noop);
      this.removals.add(removal);
      void removal.then(() => this.removals.delete(removal));
    }
  }

  private async reportRetry(name: string, id: string): Promise<void> {
    const found = this.pending.get(keyOf({ queue: name, id }));
    if (!found) return;
    const job = await this.readJob(name, id);
    if (!job?.failedReason) return;
    const { message } = readFailure(job.failedReason, found.entry.label);
    this.events.onNotice(`${found.entry.label}: ${message}; retrying in ${Math.round(job.delay / 100) / 10} s`);
  }

  /** Finds results whose events were missed, jobs that Redis has lost, and missing workers. */
  private async poll(): Promise<void> {
    if (this.closed || this.pending.size === 0 || this.redis.status !== "ready") return;
    const some = [...this.pending].slice(0, jobsPerPoll);
    await Promise.all(some.map(([key, waiting]) => this.pollJob(key, waiting)));
    // Moves the polled jobs to the end, so that the next poll checks others.
    for (const [key] of some) {
      const waiting = this.pending.get(key);
      if (!waiting) continue;
      this.pending.delete(key);
      this.pending.set(key, waiting);
    }
    if (Date.now() - this.lastActivity > noWorkerWarningMs) await this.warnWithoutWorkers();
  }

  private async pollJob(key: string, waiting: PendingJob): Promise<void> {
    const { entry } = waiting;
    if (await this.checkJob(entry.queue, entry.id)) {
      waiting.missedChecks = 0;
      return;
    }
    waiting.missedChecks++;
    if (waiting.missedChecks < 2 || !this.pending.has(key)) return;
    waiting.missedChecks = 0;
    if (await this.isRefused(entry)) return;
    // A worker may have done it.
    if (entry.lossError) return this.resolveJob(entry, { failure: toJobFailure(entry.lossError, null), attempts: 1 });
    const { parent: _, ...options } = entry.options;
    this.events.onNotice(`${entry.label}: Redis has lost the job; enqueuing it again`);
    await this.add([{ ...entry, options }]);
  }

  /** Fails a job if the server does not accept jobs. */
  private async isRefused(entry: JobEntry): Promise<boolean> {
    try {
      await checkCommands(this.redis, this.settings.prefix);
      return false;
    } catch (error) {
      if (isRefusal(error)) this.refuse(entry, error);
      return true;
    }
  }

  private refuse(entry: JobEntry, error: unknown): void {
    this.resolveJob(entry, {
      failure: toJobFailure(toConnectionError(this.settings.address, error), null),
      attempts: 1,
    });
  }

  private async warnWithoutWorkers(): Promise<void> {
    this.lastActivity = Date.now() + 6 * noWorkerWarningMs;
    const workers = await this.workers();
    if (workers?.every((worker) => worker.version !== version))
      this.events.onNotice(describeWorkers(workers, version, this.settings.address.displayUrl));
  }

  /**
   * Removes waiting jobs and stops active ones.
   * @param entries all unfinished jobs of the run or step
   * @returns the number of jobs that could not be removed because workers hold them or Redis is unavailable
   */
  async cancel(
    what: Cancellation,
    entries: readonly Pick<JobEntry, "queue" | "id">[],
    hooks: RemovalHooks,
  ): Promise<number> {
    const until = Date.now() + cancelTimeoutMs;
    let remaining = [...entries];
    if (!(await this.ping())) return remaining.length;
    const disconnected = this.waitForDisconnect();
    while (remaining.length > 0 && Date.now() < until) {
      const round = this.publishCancellation(what).then(() =>
        Promise.all(remaining.map((entry) => this.removeUnlessActive(entry, hooks))),
      );
      round.catch(noop);
      const removed = await Promise.race([round, disconnected]);
      if (removed === null) break;
      remaining = remaining.filter((_, index) => !removed[index]);
      if (remaining.length > 0) await pause(100);
    }
    return remaining.length;
  }

  /** Whether Redis answers within `pingTimeoutMs`. */
  async ping(): Promise<boolean> {
    if (this.redis.status !== "ready") return false;
    const answered = this.redis.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([answered, pause(pingTimeoutMs, false)]);
  }

  /** Resolves when Redis stops answering. */
  private async waitForDisconnect(): Promise<null> {
    do await pause(pingTimeoutMs, undefined, { ref: false });
    while (await this.ping());
    return null;
  }

  /** Asks workers to stop the jobs of a run or step. */
  async publishCancellation(what: Cancellation): Promise<void> {
    await this.redis.publish(cancelChannel(this.settings.prefix), JSON.stringify(what));
  }

  /** Removes a job unless a worker holds it. @returns whether it is gone */
  async removeUnlessActive(
    at: Pick<JobEntry, "queue" | "id">,
    { beforeRemove, onRemoved }: RemovalHooks,
  ): Promise<boolean> {
    const { queue: name, id } = at;
    if (await this.isLocked(at)) return false;
    const { queue } = await this.open(name);
    const job = await this.readJob(name, id);
    if (job) beforeRemove(job);
    try {
      await removeWithChunks(queue, id);
    } catch {
      // A worker has taken it.
      return false;
    }
    if ((await queue.getJob(id)) !== undefined) return false;
    if (job) onRemoved(job);
    return true;
  }

  /** Whether a worker holds the job. */
  async isLocked({ queue: name, id }: Pick<JobEntry, "queue" | "id">): Promise<boolean> {
    const { queue } = await this.open(name);
    return (await this.redis.exists(`${queue.toKey(id)}:lock`)) > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    // Does not wait for an unavailable server.
    if (this.removals.size > 0 && (await this.ping()))
      await Promise.race([Promise.all(this.removals), this.waitForDisconnect(), pause(cancelTimeoutMs)]);
    await Promise.race([this.close(), pause(closeTimeoutMs)]);
    this.redis.disconnect();
  }

  private async close(): Promise<void> {
    const opened = await Promise.allSettled(this.queues.values());
    const queues = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.allSettled([
      ...queues.flatMap(({ queue, events }) => [events.close(), queue.close()]),
      this.flows.close(),
    ]);
  }
}

/**
 * Removes a job, and the chunks of a conversion. The files that a map waits for remain: their results may not be
 * recorded yet.
 */
const removeWithChunks = (queue: OpenQueue["queue"], id: string): Promise<number> =>
  queue.remove(id, { removeChildren: !isMapQueue(queue.name) });

/** @param job a finished one; if it succeeded, it still has the reason of an earlier attempt that failed */
export function readOutcome(job: DispatchedJob, what: string): JobOutcome {
  if (job.returnvalue) return { returnValue: job.returnvalue };
  const reason = job.failedReason ?? "Redis has lost its result";
  return { failure: readFailure(reason, what), attempts: Math.max(1, job.attemptsMade) };
}
