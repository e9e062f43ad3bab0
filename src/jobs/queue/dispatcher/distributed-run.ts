/** A run whose steps workers execute: it enqueues jobs, waits for results, cancels, and recovers jobs of a failed run. */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { withAbort } from "../../../io/with-abort.js";
import type { Host } from "../../../pipeline/request.js";
import { ensureStateId } from "../../../sync/state/state-folder.js";
import { activeTraceHeaders } from "../../../tracing/span.js";
import { version } from "../../../version.js";
import type { ConversionStep, Job, Step, SyncStep } from "../../job.js";
import type { ItemReport } from "../../report/run-report.js";
import type { JobState } from "../../run/job-state.js";
import type { OutputRecords, OutputResult } from "../../steps/convert-step.js";
import { noop } from "../connection.js";
import { digestStep, digestText, type JobPayload, type JobProgress, type Work } from "../job-payload.js";
import { jobId } from "../queue-names.js";
import { describeWorkers } from "./connected-workers.js";
import { dispatchConversion } from "./dispatch-conversion.js";
import { dispatchSync } from "./dispatch-sync.js";
import { JobDispatcher, type JobEntry, type JobOutcome } from "./job-dispatcher.js";
import { outputHooks, recoverStalledJobs } from "./recover-stalled-jobs.js";
import type { DistributedProgress, QueueSettings } from "./settings.js";

export interface DistributedRunOptions {
  readonly job: Job;
  readonly file: string;
  /** Folder of the job's state (`jobFolder`). */
  readonly folder: string;
  readonly stateRoot: string;
  readonly state: JobState;
  readonly host: Host;
  readonly onNotice: (sentence: string) => void;
  readonly onProgress?: (progress: DistributedProgress) => void;
}

export class DistributedRun implements AsyncDisposable {
  private readonly runId = randomBytes(6).toString("hex");
  private nextJobNumber = 0;
  /** Unfinished jobs by step and id. */
  private readonly pendingJobs = new Map<string, Map<string, JobEntry>>();
  private readonly steps = new Map<string, { done: number; total: number; attempts: number; workers: Set<string> }>();
  /** By step: jobs that were enqueued together with the jobs of the step before. */
  private readonly dependents = new Map<string, JobEntry>();
  private readonly formatIds: string[];

  private constructor(
    readonly settings: QueueSettings,
    readonly options: DistributedRunOptions,
    readonly dispatcher: JobDispatcher,
    private readonly digest: string,
    readonly stateId: string,
  ) {
    // The same job file with another state folder is another job.
    this.jobKey = digestText(`${stateId}\n${options.folder}`).slice(0, 16);
    this.formatIds = options.host.registry.all().map(({ id }) => id);
  }

  readonly jobKey: string;

  /** The caller has the lock of the job. @throws queue-unavailable, queue-forbidden, queue-incompatible, interrupted */
  static async open(settings: QueueSettings, options: DistributedRunOptions): Promise<DistributedRun> {
    const { file, stateRoot, onNotice } = options;
    let distributedRun: DistributedRun | undefined;
    const { signal } = options.host;
    const opening = JobDispatcher.open(settings, {
      onNotice,
      onJobProgress: (entry, progress) => distributedRun?.onJobProgress(entry, progress),
    });
    const dispatcher = await withAbort(opening, signal).catch((error: unknown) => {
      // Closes a connection that opens after the abort.
      void opening.then((late) => late[Symbol.asyncDispose](), noop);
      throw error;
    });
    try {
      distributedRun = new DistributedRun(
        settings,
        options,
        dispatcher,
        digestText(await readFile(file, "utf8")),
        ensureStateId(stateRoot),
      );
      await withAbort(recoverStalledJobs(distributedRun), signal);
      const workers = await withAbort(dispatcher.workers(), signal);
      if (workers !== null) onNotice(describeWorkers(workers, version, settings.address.displayUrl));
      return distributedRun;
    } catch (error) {
      if (signal.aborted && !(await dispatcher.ping()))
        onNotice(
          `${settings.address.displayUrl} does not answer: jobs of an earlier run stay in the queue; the next run of this job removes them`,
        );
      await dispatcher[Symbol.asyncDispose]();
      throw error;
    }
  }

  convert(
    step: ConversionStep,
    host: Host,
    records: OutputRecords,
    dependent: SyncStep | null,
  ): Promise<readonly OutputResult[]> {
    return dispatchConversion(this, step, host, records, dependent);
  }

  sync(step: SyncStep, host: Host): Promise<ItemReport> {
    return dispatchSync(this, step, host);
  }

  /** The highest number of attempts of the step's jobs. */
  getAttempts = (step: string): number => this.steps.get(step)?.attempts ?? 1;

  /** Creates a job without enqueuing it. @param first whether it precedes the files of all runs */
  createEntry(step: Step, queue: string, work: Work, label: string, first = false): JobEntry {
    const { host, file } = this.options;
    const trace = activeTraceHeaders();
    const payload: JobPayload = {
      ...{ version, formats: this.formatIds, runId: this.runId, startedBy: `${hostname()} (process ${process.pid})` },
      ...{
        file,
        digest: this.digest,
        step: step.name,
        settings: digestStep(step, host.registry),
        now: host.now.getTime(),
        ...(trace && { trace }),
        work,
      },
    };
    return {
      ...{ queue, payload, label, id: jobId(this.jobKey, this.runId, this.nextJobNumber++) },
      options: {
        attempts: step.retries + 1,
        backoff: { type: "exponential", delay: step.retryDelay },
        stackTraceLimit: 0,
        ...(first ? {} : { priority: this.settings.priority }),
      },
    };
  }

  /** Waits for the outcome of a job. @throws interrupted */
  async waitFor(entry: JobEntry, signal: AbortSignal): Promise<JobOutcome> {
    const { step } = entry.payload;
    const known = this.getStep(step);
    // One listener for each pending job.
    setMaxListeners(0, signal);
    known.total++;
    this.pendingJobsOf(step).set(entry.id, entry);
    const outcome = await this.dispatcher.waitFor(entry, signal);
    this.pendingJobsOf(step).delete(entry.id);
    known.done++;
    const attempts = "returnValue" in outcome ? outcome.returnValue.attempts : outcome.attempts;
    known.attempts = Math.max(known.attempts, attempts);
    this.reportProgress(step);
    return outcome;
  }

  /** Cancels the unfinished jobs of a step. */
  async cancelStep(step: string): Promise<void> {
    const entries = [...this.pendingJobsOf(step).values()];
    this.pendingJobs.delete(step);
    if (entries.length > 0) await this.cancelJobs(step, entries);
  }

  private async cancelJobs(step: string, entries: readonly JobEntry[]): Promise<void> {
    const remaining = await this.dispatcher.cancel({ runId: this.runId, step }, entries, outputHooks(this));
    if (remaining === 0) return;
    const reason = (await this.dispatcher.ping()) ? "workers still hold them" : "the queue does not answer";
    this.options.onNotice(
      `${step}: ${remaining} of its jobs remain in ${this.settings.address.displayUrl} because ${reason}; workers may still run them, and the next run of this job removes them`,
    );
  }

  /** Remembers that a job of the step was enqueued together with the step before. */
  scheduleDependent(step: SyncStep, entry: JobEntry): void {
    this.dependents.set(step.name, entry);
  }

  /** Returns and forgets the job that was enqueued for the step, if any. */
  takeDependent(step: SyncStep): JobEntry | null {
    const entry = this.dependents.get(step.name) ?? null;
    this.dependents.delete(step.name);
    return entry;
  }

  /** Cancels the job that was enqueued for a step that is skipped. */
  async cancelDependent(step: string): Promise<void> {
    const entry = this.dependents.get(step);
    this.dependents.delete(step);
    if (entry) await this.cancelJobs(step, [entry]);
  }

  private pendingJobsOf(step: string): Map<string, JobEntry> {
    const jobs = this.pendingJobs.get(step) ?? new Map<string, JobEntry>();
    this.pendingJobs.set(step, jobs);
    return jobs;
  }

  private getStep(step: string) {
    const known = this.steps.get(step) ?? { done: 0, total: 0, attempts: 1, workers: new Set<string>() };
    this.steps.set(step, known);
    return known;
  }

  private onJobProgress({ payload: { step }, label }: JobEntry, { worker, notice }: JobProgress): void {
    this.getStep(step).workers.add(worker);
    if (notice !== undefined) this.options.onNotice(`${label}, on ${worker}: ${notice}`);
    this.reportProgress(step);
  }

  private reportProgress(step: string): void {
    const { done, total, workers } = this.getStep(step);
    this.options.onProgress?.({ step, done, total, workers: [...workers] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const step of [...this.dependents.keys()]) await this.cancelDependent(step);
    await this.dispatcher[Symbol.asyncDispose]();
  }
}
