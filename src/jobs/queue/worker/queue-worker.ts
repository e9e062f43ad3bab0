/** Takes jobs from the queues of a fleet: files and pieces of them, and one job of each map. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { version } from "../../../version.js";
import { connectionOptions, noop, openReconnectingRedis, openRedis } from "../connection.js";
import { connectionName, listConnectedWorkers } from "../dispatcher/connected-workers.js";
import type { DispatcherSettings } from "../dispatcher/settings.js";
import {
  type Cancellation,
  cancelChannel,
  isMapQueue,
  isOfThisVersion,
  queuesKey,
  workQueueName,
} from "../queue-names.js";
import { LostWorkers } from "./lost-workers.js";
import { Refusals } from "./refusals.js";
import { type ActiveJob, takeJob, type WorkerJob } from "./take-job.js";
import type { WorkerPool } from "./worker-pool.js";

export interface WorkerSettings extends DispatcherSettings {
  readonly name: string;
  /** Files at a time. */
  readonly concurrency: number;
  /** Milliseconds after which the jobs of a worker that is connected and says nothing are taken over by others. */
  readonly stalledAfter: number;
}

/** What a worker tells of itself. */
export type WorkerEvent =
  | { readonly type: "took"; readonly job: string; readonly what: string }
  | {
      readonly type: "done" | "returned" | "spread";
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
  | { readonly type: "away" | "back" }
  | {
      readonly type: "health";
      readonly active: number;
      readonly done: number;
      readonly failed: number;
      readonly redis: string;
    };

/** A job is given up when so many workers have ended in the middle of it. */
const maxStalls = 3;

/** Milliseconds between two looks at which maps have work, for workers that are lost, and for jobs without a lock. */
const pollIntervalMs = 1000;

/** Of the time for which locks last: so often they are renewed, and at least every second. */
const lockRenewals = 4;

/** Milliseconds for which the queue of a map is listened to that no one has announced, and for which it is remembered. */
const mapQueueIdleMs = 60_000;
const queueMemoryMs = 24 * 3600 * 1000;

/** Milliseconds that hands have to stop, and Redis to take back what they were at. */
const shutdownTimeoutMs = 15_000;

/** Milliseconds between two words about itself. */
const healthIntervalMs = 60_000;

export class QueueWorker {
  private readonly workers = new Map<string, { readonly worker: Worker; used: number }>();
  private readonly activeJobs = new Map<string, ActiveJob>();
  /** What was cancelled a moment ago: a job of it may be on its way. */
  private readonly cancelled = new Map<string, number>();
  private readonly timers: NodeJS.Timeout[] = [];
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
    private readonly onEvent: (news: WorkerEvent) => void,
  ) {
    this.refusals = new Refusals(id, () => listConnectedWorkers(redis, settings.prefix));
    this.lostWorkers = new LostWorkers(redis, settings.prefix, id, () => {
      if (listener.status === "ready") listener.disconnect(true);
    });
  }

  /** @throws queue-unavailable, queue-forbidden, queue-incompatible */
  static async open(
    settings: WorkerSettings,
    hands: WorkerPool,
    tell: (news: WorkerEvent) => void,
    onNotice: (sentence: string) => void,
  ): Promise<QueueWorker> {
    const redis = await openRedis(settings.address, settings.prefix, onNotice);
    const id = randomUUID();
    const listener = openReconnectingRedis(settings.address, connectionName(settings.prefix, { id, version }));
    const worker = new QueueWorker(settings, id, redis, listener, hands, tell);
    await worker.start();
    return worker;
  }

  private async start(): Promise<void> {
    const { prefix, concurrency } = this.settings;
    this.redis.on("close", () => {
      this.lostWorkers.reset();
      this.reportDisconnect(true);
    });
    this.redis.on("ready", () => this.reportDisconnect(false));
    this.listener.on("message", (_, text) => this.onMessage(text));
    await this.listener.subscribe(cancelChannel(prefix));
    await this.listen(workQueueName, concurrency);
    let looking: Promise<void> = Promise.resolve();
    const look = () => {
      looking = looking.then(() => this.pollMapQueues()).catch(noop);
      looking = looking.then(() => this.pollLostWorkers()).catch(noop);
    };
    look();
    this.timers.push(
      setInterval(look, pollIntervalMs),
      setInterval(() => this.reportHealth(), healthIntervalMs),
    );
  }

  private async listen(name: string, concurrency: number): Promise<void> {
    const { address, prefix, stalledAfter } = this.settings;
    const options = { connection: connectionOptions(address), prefix, skipVersionCheck: true };
    const queue = new Queue(name, { connection: this.redis, prefix, skipVersionCheck: true });
    queue.on("error", noop);
    const worker: Worker = new Worker(
      name,
      (job, token, signal) => this.processJob(worker, queue, job, token!, signal!),
      {
        ...options,
        // Redis keeps the name with each job that the worker takes.
        ...{ concurrency, name: this.id, maxStalledCount: maxStalls },
        ...{ lockDuration: stalledAfter, lockRenewTime: Math.min(pollIntervalMs, stalledAfter / lockRenewals) },
        stalledInterval: pollIntervalMs,
        ...{ runRetryDelay: 1000, removeOnFail: { age: 24 * 3600 } },
      },
    );
    worker.on("error", noop);
    worker.on("stalled", (job) => this.onEvent({ type: "stalled", job }));
    // Another worker has it: two must not write.
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
      const answer = await taken.answer;
      this.counts.done++;
      return answer;
    } catch (error) {
      if (!/^(Waiting|Delayed)/.test((error as Error).name)) this.counts.failed++;
      throw error;
    } finally {
      this.activeJobs.delete(key);
      const still = this.workers.get(queue.name);
      if (still?.worker === worker) still.used = Date.now();
    }
  }

  private onMessage(text: string): void {
    try {
      this.cancel(JSON.parse(text) as Cancellation);
    } catch {
      // Somebody else's words.
    }
  }

  private cancel({ runId, step }: Cancellation): void {
    this.cancelled.set(step === null ? runId : `${runId}/${step}`, Date.now());
    for (const active of this.activeJobs.values())
      if (active.payload.runId === runId && (step === null || active.payload.step === step)) active.stop();
  }

  /** Listens to the queues of maps that have work, and no longer to those that have had none for a while. */
  private async pollMapQueues(): Promise<void> {
    if (this.closing || this.redis.status !== "ready") return;
    const now = Date.now();
    const key = queuesKey(this.settings.prefix);
    for (const [name, at] of this.cancelled) if (now - at > mapQueueIdleMs) this.cancelled.delete(name);
    const names = await this.redis.zrangebyscore(key, now - queueMemoryMs, "+inf");
    for (const name of names.filter((one) => isMapQueue(one) && isOfThisVersion(one))) {
      const known = this.workers.get(name);
      const isBusy = await this.hasWork(name);
      if (isBusy && known) known.used = now;
      if (isBusy && !known && !this.closing) await this.listen(name, 1);
    }
    for (const [name, { worker, used }] of this.workers) {
      if (name === workQueueName || now - used < mapQueueIdleMs) continue;
      this.workers.delete(name);
      await worker.close();
    }
    await this.redis.zremrangebyscore(key, 0, now - queueMemoryMs);
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

  private reportDisconnect(isAway: boolean): void {
    if (this.isDisconnected === isAway || this.isReturningJobs) return;
    this.isDisconnected = isAway;
    this.onEvent({ type: isAway ? "away" : "back" });
  }

  private reportHealth(): void {
    this.onEvent({ type: "health", active: this.activeJobs.size, ...this.counts, redis: this.redis.status });
  }

  /** Ends when nothing is left to be handed back, or Redis is not there to take it: then others take it over. */
  private async requeueActiveJobs(patience: number, ended: AbortSignal): Promise<void> {
    await pause(patience, undefined, { signal: ended }).catch(noop);
    this.isReturningJobs = true;
    for (const active of this.activeJobs.values()) active.stop();
    const until = Date.now() + shutdownTimeoutMs;
    while (!ended.aborted && Date.now() < until && (this.redis.status === "ready" || this.activeJobs.size > 0))
      await pause(100);
  }

  /** Takes no more jobs; those under way are finished or, after a while, handed back. @param patience milliseconds */
  async close(patience: number): Promise<void> {
    this.closing = true;
    for (const timer of this.timers) clearInterval(timer);
    const workers = [...this.workers.values()].map(({ worker }) => worker);
    const closed = Promise.all(workers.map((worker) => worker.close()));
    const ended = new AbortController();
    await Promise.race([closed, this.requeueActiveJobs(patience, ended.signal)]);
    ended.abort();
    this.isReturningJobs = true;
    await this.processes[Symbol.asyncDispose]();
    this.listener.disconnect();
    this.redis.disconnect();
  }
}
