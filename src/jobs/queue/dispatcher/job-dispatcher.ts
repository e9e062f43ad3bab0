/**
 * The side of a queue that hands out: jobs of one run go in, their answers come out, whatever happens to workers and to
 * Redis in between. Events tell what happens; what they miss is looked for.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type FlowJob, FlowProducer, type Job, type JobsOptions, Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import { version } from "../../../version.js";
import { checkCommands, connectionOptions, isRefusal, noop, openRedis, toConnectionError } from "../connection.js";
import {
  type JobAnswer,
  type JobFailure,
  type JobPayload,
  type JobProgress,
  readFailure,
  toJobFailure,
} from "../job-payload.js";
import { type Cancellation, cancelChannel, isMapQueue, queuesKey } from "../queue-names.js";
import { withAbort } from "../with-abort.js";
import { type ConnectedWorker, describeWorkers, listConnectedWorkers } from "./connected-workers.js";
import type { DispatcherSettings } from "./settings.js";

export type DispatchedJob = Job<JobPayload, JobAnswer>;

/** What a job ended with. */
export type JobOutcome = { readonly answer: JobAnswer } | { readonly failure: JobFailure; readonly tries: number };

/** One job, and how it is added. */
export interface JobEntry {
  readonly queue: string;
  readonly id: string;
  readonly payload: JobPayload;
  readonly options: JobsOptions;
  /** What it is of, for people. */
  readonly label: string;
}

interface PendingJob {
  readonly entry: JobEntry;
  readonly resolve: (ending: JobOutcome) => void;
  /** Looks that have not found it. */
  missedChecks: number;
}

interface OpenQueue {
  readonly queue: Queue<JobPayload, JobAnswer>;
  readonly events: QueueEvents;
}

/** Told of what workers do. */
export interface DispatcherEvents {
  onNotice(sentence: string): void;
  onJobProgress(entry: JobEntry, underway: JobProgress): void;
}

/** Milliseconds between two looks for what no event told. */
const pollIntervalMs = 3000;
/** So many jobs are looked for at a time. */
const jobsPerPoll = 200;
/** Milliseconds that workers have to let go of what is cancelled. */
const cancelTimeoutMs = 15_000;
/** Milliseconds for connections to end. */
const closeTimeoutMs = 2000;
/** Milliseconds in which Redis answers; later it counts as away for who is told to end. */
const pingTimeoutMs = 2000;
/** Milliseconds without any worker before that is told. */
const noWorkerWarningMs = 10_000;
/** Seconds that an answer is kept for whoever asked for it, and how many. */
const keptResults = { age: 24 * 3600, count: 100_000 };

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

  /** @throws queue-unavailable, queue-forbidden, queue-incompatible */
  static async open(settings: DispatcherSettings, watcher: DispatcherEvents): Promise<JobDispatcher> {
    return new JobDispatcher(settings, await openRedis(settings.address, settings.prefix, watcher.onNotice), watcher);
  }

  private get options() {
    return { connection: this.redis, prefix: this.settings.prefix, skipVersionCheck: true };
  }

  open(name: string): Promise<OpenQueue> {
    const known = this.queues.get(name);
    if (known) return known;
    const opened = this.openQueue(name);
    this.queues.set(name, opened);
    return opened;
  }

  private async openQueue(name: string): Promise<OpenQueue> {
    const queue = new Queue<JobPayload, JobAnswer>(name, this.options);
    queue.on("error", noop);
    const events = new QueueEvents(name, {
      ...{ prefix: this.settings.prefix, skipVersionCheck: true },
      connection: connectionOptions(this.settings.address),
    });
    events.on("error", noop);
    events.on("completed", ({ jobId, returnvalue }) => {
      this.resolveJob({ queue: name, id: jobId }, { answer: returnvalue as unknown as JobAnswer });
    });
    events.on("failed", ({ jobId }) => void this.findResult(name, jobId).catch(noop));
    events.on("delayed", ({ jobId }) => void this.reportRetry(name, jobId).catch(noop));
    events.on("stalled", ({ jobId }) => {
      const found = this.pending.get(keyOf({ queue: name, id: jobId }));
      if (found) this.events.onNotice(`${found.entry.label}: its worker does not answer any more; another takes over`);
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

  /** Hands out jobs; all of them, or none: then they have failed. */
  async add(entries: readonly JobEntry[]): Promise<void> {
    try {
      await this.addJob(entries);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      for (const entry of entries) this.refuse(entry, error);
    }
  }

  private async addJob(entries: readonly JobEntry[]): Promise<void> {
    const [first] = entries;
    if (!first) return;
    const { queue } = await this.open(first.queue);
    await this.announceMap(first.queue);
    await queue.addBulk(
      entries.map(({ payload, id, options }) => ({
        name: payload.step,
        data: payload,
        opts: jobOptions(id, options),
      })),
    );
  }

  /** Hands out a job with those that must have been done before it; where one of them fails it is not done. */
  async addFlow(parent: JobEntry, children: readonly JobEntry[]): Promise<void> {
    const jobOf = ({ queue, payload, id, options }: JobEntry): FlowJob => ({
      ...{ name: payload.step, queueName: queue, data: payload },
      opts: jobOptions(id, options),
    });
    await Promise.all([parent, ...children].map(({ queue }) => this.open(queue)));
    for (const name of new Set([parent, ...children].map(({ queue }) => queue))) await this.announceMap(name);
    await this.flows.add({
      ...jobOf(parent),
      children: children.map((child) => {
        const job = jobOf(child);
        return { ...job, opts: { ...job.opts, failParentOnFailure: true } };
      }),
    });
  }

  /** Lets workers, and later runs, know of a queue. */
  private async announceMap(name: string): Promise<void> {
    await this.redis.zadd(queuesKey(this.settings.prefix), Date.now(), name);
  }

  /** Names of the queues, of all versions, that have had a job lately. */
  announcedMaps(): Promise<string[]> {
    return this.redis.zrangebyscore(queuesKey(this.settings.prefix), "-inf", "+inf");
  }

  /** @returns null where the server does not say it */
  workers(): Promise<readonly ConnectedWorker[] | null> {
    return listConnectedWorkers(this.redis, this.settings.prefix);
  }

  /** What becomes of a job. @param signal takes it back @throws interrupted */
  async dispatch(entry: JobEntry, signal: AbortSignal): Promise<JobOutcome> {
    const key = keyOf(entry);
    const ended = new Promise<JobOutcome>((resolve) => this.pending.set(key, { entry, resolve, missedChecks: 0 }));
    try {
      return await withAbort(ended, signal);
    } finally {
      this.pending.delete(key);
    }
  }

  /** Looks for a job at once: it may have ended before anybody waited for it. @returns whether it is there */
  async findResult(queueName: string, id: string): Promise<boolean> {
    const { queue } = await this.open(queueName);
    const job = await queue.getJob(id);
    if (!job) return false;
    if (job.finishedOn === undefined || job.finishedOn === null) return true;
    const what = this.pending.get(keyOf({ queue: queueName, id }))?.entry.label ?? id;
    this.resolveJob({ queue: queueName, id }, readOutcome(job, what));
    return true;
  }

  private resolveJob(at: Pick<JobEntry, "queue" | "id">, ending: JobOutcome): void {
    this.lastActivity = Date.now();
    const key = keyOf(at);
    const found = this.pending.get(key);
    if (!found) return;
    this.pending.delete(key);
    found.resolve(ending);
  }

  /** What has been told of is not needed any more. */
  removeJob(entries: readonly Pick<JobEntry, "queue" | "id">[]): void {
    for (const { queue: name, id } of entries) {
      const removal = this.open(name)
        .then(({ queue }) => queue.remove(id))
        .catch(noop);
      this.removals.add(removal);
      void removal.then(() => this.removals.delete(removal));
    }
  }

  private async reportRetry(name: string, id: string): Promise<void> {
    const found = this.pending.get(keyOf({ queue: name, id }));
    if (!found) return;
    const job = await (await this.open(name)).queue.getJob(id);
    if (!job?.failedReason) return;
    const { message } = readFailure(job.failedReason, found.entry.label);
    this.events.onNotice(`${found.entry.label}: ${message}; tried again in ${Math.round(job.delay / 100) / 10} s`);
  }

  /** Events that were missed, jobs that Redis has lost, workers that are not there. */
  private async poll(): Promise<void> {
    if (this.closed || this.pending.size === 0 || this.redis.status !== "ready") return;
    const some = [...this.pending].slice(0, jobsPerPoll);
    await Promise.all(some.map(([key, waiting]) => this.pollJob(key, waiting)));
    // Those behind them have their turn next.
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
    if (await this.findResult(entry.queue, entry.id)) {
      waiting.missedChecks = 0;
      return;
    }
    waiting.missedChecks++;
    if (waiting.missedChecks < 2 || !this.pending.has(key)) return;
    waiting.missedChecks = 0;
    if (await this.isRefused(entry)) return;
    const { parent: _, ...options } = entry.options;
    this.events.onNotice(`${entry.label}: Redis has forgotten it; it is handed out again`);
    await this.add([{ ...entry, options }]);
  }

  /** Where the server takes no jobs, no one waits for one. */
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
    this.resolveJob(entry, { failure: toJobFailure(toConnectionError(this.settings.address, error), null), tries: 1 });
  }

  private async warnWithoutWorkers(): Promise<void> {
    this.lastActivity = Date.now() + 6 * noWorkerWarningMs;
    const workers = await this.workers();
    if (workers?.every((worker) => worker.version !== version))
      this.events.onNotice(describeWorkers(workers, version, this.settings.address.displayUrl));
  }

  /**
   * Takes back what was handed out: what waits is removed, what is under way is stopped.
   * @param entries all jobs of the run, or of the step, that have not ended
   * @param keep told of each that no one is at any more, before it is removed
   * @returns how many of them stay: workers do not let go of them, or Redis is away
   */
  async cancel(
    what: Cancellation,
    entries: readonly Pick<JobEntry, "queue" | "id">[],
    keep: (job: DispatchedJob) => void,
  ): Promise<number> {
    const until = Date.now() + cancelTimeoutMs;
    let left = [...entries];
    if (!(await this.ping())) return left.length;
    const away = this.waitForDisconnect();
    while (left.length > 0 && Date.now() < until) {
      const round = this.stop(what).then(() => Promise.all(left.map((entry) => this.removeWaiting(entry, keep))));
      round.catch(noop);
      const gone = await Promise.race([round, away]);
      if (gone === null) break;
      left = left.filter((_, index) => !gone[index]);
      if (left.length > 0) await pause(100);
    }
    return left.length;
  }

  /** Whether Redis is there, and answers within a moment. */
  async ping(): Promise<boolean> {
    if (this.redis.status !== "ready") return false;
    const answered = this.redis.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([answered, pause(pingTimeoutMs, false)]);
  }

  /** When Redis answers no longer. */
  private async waitForDisconnect(): Promise<null> {
    do await pause(pingTimeoutMs, undefined, { ref: false });
    while (await this.ping());
    return null;
  }

  /** Tells workers to let go. */
  async stop(what: Cancellation): Promise<void> {
    await this.redis.publish(cancelChannel(this.settings.prefix), JSON.stringify(what));
  }

  /** Removes a job unless a worker is at it. @returns whether it is gone */
  async removeWaiting(at: Pick<JobEntry, "queue" | "id">, keep: (job: DispatchedJob) => void = noop): Promise<boolean> {
    const { queue: name, id } = at;
    const { queue } = await this.open(name);
    if (await this.isHeld(at)) return false;
    const job = await queue.getJob(id);
    if (job) keep(job);
    try {
      await queue.remove(id);
    } catch {
      // A worker has it.
      return false;
    }
    return (await queue.getJob(id)) === undefined;
  }

  /** Whether a worker holds the job. */
  async isHeld({ queue: name, id }: Pick<JobEntry, "queue" | "id">): Promise<boolean> {
    const { queue } = await this.open(name);
    return (await this.redis.exists(`${queue.toKey(id)}:lock`)) > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    // A server that is away is not waited for.
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

export function readOutcome(job: DispatchedJob, what: string): JobOutcome {
  if (job.failedReason) return { failure: readFailure(job.failedReason, what), tries: Math.max(1, job.attemptsMade) };
  return { answer: job.returnvalue };
}
