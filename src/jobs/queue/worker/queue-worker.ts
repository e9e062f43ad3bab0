/** Takes jobs from the shared queue of files and chunks, and from the queue of each map. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Queue, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { createError } from "../../../errors.js";
import { version } from "../../../version.js";
import { checkQueueKeys, checkQueueList } from "../check-keys.js";
import {
  connectionOptions,
  isRefusal,
  noop,
  openReconnectingRedis,
  openRedis,
  toConnectionError,
} from "../connection.js";
import { connectionName, listConnectedWorkers } from "../dispatcher/connected-workers.js";
import type { DispatcherSettings } from "../dispatcher/settings.js";
import { findDamage } from "../find-damage.js";
import { toJobFailure } from "../job-payload.js";
import {
  type Cancellation,
  cancelChannel,
  isMapQueue,
  isOfThisVersion,
  queuesKey,
  resultRetention,
  workQueueName,
} from "../queue-names.js";
import { repairJob } from "../repair-job.js";
import { LostWorkers } from "./lost-workers.js";
import { Refusals } from "./refusals.js";
import { type ActiveJob, takeJob, type WorkerJob } from "./take-job.js";
import type { WorkerPool } from "./worker-pool.js";

export interface WorkerSettings extends DispatcherSettings {
  readonly name: string;
  /** Jobs of the work queue that run at the same time. */
  readonly concurrency: number;
  /** Lock duration in milliseconds: other workers take over the jobs of a connected worker that stops renewing. */
  readonly stalledAfter: number;
}

/** Log records and metrics of a worker. */
export type WorkerEvent =
  | { readonly type: "started"; readonly job: string; readonly what: string }
  | {
      readonly type: "done" | "requeued" | "split";
      readonly job: string;
      readonly what: string;
      readonly seconds: number;
    }
  | {
      readonly type: "failed" | "refused";
      readonly job: string;
      readonly what: string;
      readonly seconds: number;
      readonly message: string;
    }
  | { readonly type: "stalled"; readonly job: string }
  | { readonly type: "disconnected" | "reconnected" }
  | {
      readonly type: "health";
      readonly active: number;
      readonly done: number;
      readonly failed: number;
      readonly redis: string;
    };

/** A job fails after this many workers have ended during it. */
const maxStalls = 3;

/** Interval for finding map queues with jobs, lost workers, and jobs without a lock. */
const pollIntervalMs = 1000;

/** Renewals per lock duration; locks are renewed at least every second. */
const lockRenewals = 4;

/** How long a worker listens to a map queue without jobs. */
const mapQueueIdleMs = 60_000;

/** Age of the latest job after which workers look into a map queue less often. */
const mapQueueMaxAgeMs = 24 * 3600 * 1000;

/** Older map queues that each poll looks into. */
const olderQueuesPerPoll = 100;

/** Time limit for stopping processes and returning their jobs to Redis. */
const shutdownTimeoutMs = 15_000;

const healthIntervalMs = 60_000;

export class QueueWorker {
  private readonly workers = new Map<string, { readonly worker: Worker; used: number }>();
  private readonly activeJobs = new Map<string, ActiveJob>();
  /** Recent cancellations by time, for jobs that arrive after their cancellation. */
  private readonly cancelled = new Map<string, number>();
  private readonly timers: NodeJS.Timeout[] = [];
  /** Where the next poll goes on among the older queues. */
  private olderQueues = 0;
  private readonly counts = { done: 0, failed: 0 };
  private isDisconnected = false;
  private closing = false;
  private isReturningJobs = false;

  private readonly refusals: Refusals;
  private readonly lostWorkers: LostWorkers;

  private constructor(
    private readonly settings: WorkerSettings,
    private readonly id: string,
    private readonly redis: Redis,
    private readonly listener: Redis,
    private readonly processes: WorkerPool,
    private readonly onEvent: (event: WorkerEvent) => void,
  ) {
    this.refusals = new Refusals(id, () => listConnectedWorkers(redis, settings.prefix));
    this.lostWorkers = new LostWorkers(redis, settings.prefix, id, () => {
      if (listener.status === "ready") listener.disconnect(true);
    });
  }

  /** @throws queue-unavailable, queue-forbidden, queue-incompatible, queue-not-accepting */
  static async open(
    settings: WorkerSettings,
    processes: WorkerPool,
    onEvent: (event: WorkerEvent) => void,
    onNotice: (sentence: string) => void,
  ): Promise<QueueWorker> {
    const redis = await openRedis(settings.address, settings.prefix, onNotice);
    const id = randomUUID();
    const listener = openReconnectingRedis(settings.address, connectionName(settings.prefix, { id, version }));
    const worker = new QueueWorker(settings, id, redis, listener, processes, onEvent);
    try {
      await checkQueueList(redis, settings);
      await worker.start();
      return worker;
    } catch (error) {
      for (const connection of [redis, listener]) connection.disconnect();
      throw isRefusal(error) ? toConnectionError(settings.address, error) : error;
    }
  }

  private async start(): Promise<void> {
    const { prefix, concurrency } = this.settings;
    this.redis.on("close", () => {
      this.lostWorkers.reset();
      this.setDisconnected(true);
    });
    this.redis.on("ready", () => this.setDisconnected(false));
    this.listener.on("message", (_, text) => this.onMessage(text));
    await this.listener.subscribe(cancelChannel(prefix));
    await this.listen(workQueueName, concurrency);
    let polling: Promise<void> = Promise.resolve();
    const poll = () => {
      polling = polling.then(() => this.pollMapQueues()).catch(noop);
      polling = polling.then(() => this.pollLostWorkers()).catch(noop);
    };
    poll();
    this.timers.push(
      setInterval(poll, pollIntervalMs),
      setInterval(() => this.reportHealth(), healthIntervalMs),
    );
  }

  private async listen(name: string, concurrency: number): Promise<void> {
    const { address, prefix, stalledAfter } = this.settings;
    await checkQueueKeys(this.redis, this.settings, name);
    const options = { connection: connectionOptions(address), prefix, skipVersionCheck: true };
    const queue = new Queue(name, { connection: this.redis, prefix, skipVersionCheck: true });
    queue.on("error", noop);
    const worker: Worker = new Worker(
      name,
      (job, token, signal) => this.processJob(worker, queue, job, token!, signal!),
      {
        ...options,
        // Redis stores the name with each job that the worker takes; `LostWorkers` reads it.
        ...{ concurrency, name: this.id, maxStalledCount: maxStalls },
        ...{ lockDuration: stalledAfter, lockRenewTime: Math.min(pollIntervalMs, stalledAfter / lockRenewals) },
        stalledInterval: pollIntervalMs,
        ...{ runRetryDelay: 1000, removeOnFail: { age: resultRetention } },
      },
    );
    worker.on("error", noop);
    worker.on("stalled", (job) => {
      this.onEvent({ type: "stalled", job });
      repairJob(this.redis, queue.toKey(job)).catch(noop);
    });
    // Another worker may own the job now, and two must not write.
    worker.on("lockRenewalFailed", (jobs) => {
      for (const id of jobs) this.activeJobs.get(`${name}/${id}`)?.onLockLost();
    });
    this.workers.set(name, { worker, used: Date.now() });
    await worker.waitUntilReady();
  }

  private async processJob(
    worker: Worker,
    queue: Queue,
    job: WorkerJob,
    token: string,
    signal: AbortSignal,
  ): Promise<object> {
    const key = `${queue.name}/${job.id}`;
    const known = this.workers.get(queue.name);
    if (known) known.used = Date.now();
    this.checkData(job);
    const { runId, step } = job.data;
    const isCancelled = this.cancelled.has(runId) || this.cancelled.has(`${runId}/${step}`);
    const taken = takeJob({
      ...{ job, queue, token, signal, isCancelled, processes: this.processes, onEvent: this.onEvent },
      ...{ worker: this.settings.name, lockDuration: this.settings.stalledAfter },
      isShuttingDown: () => this.isReturningJobs,
      refusals: this.refusals,
    });
    this.activeJobs.set(key, taken.active);
    try {
      const returnValue = await taken.returnValue;
      this.counts.done++;
      return returnValue;
    } catch (error) {
      if (!/^(Waiting|Delayed)/.test((error as Error).name)) this.counts.failed++;
      throw error;
    } finally {
      this.activeJobs.delete(key);
      const current = this.workers.get(queue.name);
      if (current?.worker === worker) current.used = Date.now();
    }
  }

  /** @throws UnrecoverableError with a `JobFailure`, if this is not a job of geoferry */
  private checkData({ id, name, data }: WorkerJob): void {
    const reason = findDamage(data);
    if (reason === null) return;
    const described = { job: id!, what: [...(name ? [name] : []), `job ${id!}`].join(": ") };
    const failure = toJobFailure(createError("queue-job-damaged", { ...described, reason }), this.settings.name);
    this.onEvent({ type: "started", ...described });
    this.onEvent({ type: "failed", ...described, seconds: 0, message: failure.message });
    this.counts.failed++;
    throw new UnrecoverableError(JSON.stringify(failure));
  }

  private onMessage(text: string): void {
    try {
      this.cancel(JSON.parse(text) as Cancellation);
    } catch {
      // Not a message of geoferry.
    }
  }

  private cancel({ runId, step }: Cancellation): void {
    this.cancelled.set(step === null ? runId : `${runId}/${step}`, Date.now());
    for (const active of this.activeJobs.values())
      if (active.payload.runId === runId && (step === null || active.payload.step === step)) active.stop();
  }

  /** Opens the map queues that have jobs, and closes those that have been idle. */
  private async pollMapQueues(): Promise<void> {
    if (this.closing || this.redis.status !== "ready") return;
    const now = Date.now();
    const key = queuesKey(this.settings.prefix);
    for (const [name, at] of this.cancelled) if (now - at > mapQueueIdleMs) this.cancelled.delete(name);
    const recent = await this.redis.zrangebyscore(key, now - mapQueueMaxAgeMs, "+inf");
    const names = [...recent, ...(await this.nextOlderQueues(key, now))];
    for (const name of names.filter((one) => isMapQueue(one) && isOfThisVersion(one))) {
      const known = this.workers.get(name);
      const isBusy = await this.hasWork(name);
      if (isBusy && known) known.used = now;
      if (isBusy && !known && !this.closing) await this.listen(name, 1).catch(noop);
    }
    for (const [name, { worker, used }] of this.workers) {
      if (name === workQueueName || now - used < mapQueueIdleMs) continue;
      this.workers.delete(name);
      await worker.close();
    }
  }

  /**
   * Some of the queues whose latest job seems old, in turn: it may have waited that long for a worker, or the clock of the
   * run that enqueued it is behind. Removes those whose results are gone.
   */
  private async nextOlderQueues(key: string, now: number): Promise<string[]> {
    const range = [
      "-inf",
      `(${now - mapQueueMaxAgeMs}`,
      "WITHSCORES",
      "LIMIT",
      this.olderQueues,
      olderQueuesPerPoll,
    ] as const;
    const found = await this.redis.zrangebyscore(key, ...range);
    const names: string[] = [];
    for (let i = 0; i < found.length; i += 2) {
      const [name, score] = [found[i]!, Number(found[i + 1])];
      if (score >= now - resultRetention * 1000 || (await this.hasWork(name))) names.push(name);
      else await this.redis.zrem(key, name);
    }
    this.olderQueues = found.length < 2 * olderQueuesPerPoll ? 0 : this.olderQueues + names.length;
    return names;
  }

  private async pollLostWorkers(): Promise<void> {
    if (this.closing || this.redis.status !== "ready") return this.lostWorkers.reset();
    await this.lostWorkers.check([...this.workers.keys()], performance.now());
  }

  private async hasWork(name: string): Promise<boolean> {
    const at = (list: string) => `${this.settings.prefix}:${name}:${list}`;
    const found = await this.redis
      .pipeline()
      .llen(at("wait"))
      .llen(at("active"))
      .zcard(at("delayed"))
      .zcard(at("prioritized"))
      .zcard(at("waiting-children"))
      .exec();
    return (found ?? []).some(([, count]) => Number(count) > 0);
  }

  private setDisconnected(isDisconnected: boolean): void {
    if (this.isDisconnected === isDisconnected || this.isReturningJobs) return;
    this.isDisconnected = isDisconnected;
    this.onEvent({ type: isDisconnected ? "disconnected" : "reconnected" });
  }

  private reportHealth(): void {
    this.onEvent({ type: "health", active: this.activeJobs.size, ...this.counts, redis: this.redis.status });
  }

  /** Returns active jobs to the queue after a delay. Without Redis the jobs stall, and other workers take them over. */
  private async requeueActiveJobs(delay: number, closed: AbortSignal): Promise<void> {
    await pause(delay, undefined, { signal: closed }).catch(noop);
    this.isReturningJobs = true;
    for (const active of this.activeJobs.values()) active.stop();
    const until = Date.now() + shutdownTimeoutMs;
    while (!closed.aborted && Date.now() < until && (this.redis.status === "ready" || this.activeJobs.size > 0))
      await pause(100);
  }

  /** Takes no more jobs and waits for active ones. @param timeout milliseconds after which active jobs are requeued */
  async close(timeout: number): Promise<void> {
    this.closing = true;
    for (const timer of this.timers) clearInterval(timer);
    const workers = [...this.workers.values()].map(({ worker }) => worker);
    const closed = Promise.all(workers.map((worker) => worker.close()));
    const hasClosed = new AbortController();
    await Promise.race([closed, this.requeueActiveJobs(timeout, hasClosed.signal)]);
    hasClosed.abort();
    this.isReturningJobs = true;
    await this.processes[Symbol.asyncDispose]();
    this.listener.disconnect();
    this.redis.disconnect();
  }
}
