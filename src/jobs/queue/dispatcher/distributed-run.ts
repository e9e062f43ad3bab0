/** A run that hands its steps to workers: what it hands out, waits for, takes back, and takes over from one that died. */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
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
import { withAbort } from "../with-abort.js";
import { describeWorkers } from "./connected-workers.js";
import { dispatchConversion } from "./dispatch-conversion.js";
import { dispatchSync } from "./dispatch-sync.js";
import { JobDispatcher, type JobEntry, type JobOutcome } from "./job-dispatcher.js";
import { keepFinished, recoverStalledJobs } from "./recover-stalled-jobs.js";
import type { DistributedProgress, QueueSettings } from "./settings.js";

export interface DistributedRunOptions {
  readonly job: Job;
  readonly file: string;
  /** Of the job's state (`jobFolder`). */
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
  /** By step, what has not ended. */
  private readonly pendingJobs = new Map<string, Map<string, JobEntry>>();
  private readonly steps = new Map<string, { done: number; total: number; tries: number; workers: Set<string> }>();
  /** Jobs of steps that workers do when those before them are done. */
  private readonly dependents = new Map<string, JobEntry>();
  private readonly formatIds: string[];

  private constructor(
    readonly settings: QueueSettings,
    readonly options: DistributedRunOptions,
    readonly dispatcher: JobDispatcher,
    private readonly digest: string,
    readonly stateId: string,
  ) {
    // Those of another state belong to another job, whatever its file is called.
    this.jobKey = digestText(`${stateId}\n${options.folder}`).slice(0, 16);
    this.formatIds = options.host.registry.all().map(({ id }) => id);
  }

  readonly jobKey: string;

  /** The caller has the lock of the job. @throws queue-unavailable, queue-forbidden, queue-incompatible, interrupted */
  static async open(settings: QueueSettings, options: DistributedRunOptions): Promise<DistributedRun> {
    const { file, stateRoot, onNotice } = options;
    let handOut: DistributedRun | undefined;
    const { signal } = options.host;
    const opening = JobDispatcher.open(settings, {
      onNotice,
      onJobProgress: (entry, underway) => handOut?.onJobProgress(entry, underway),
    });
    const desk = await withAbort(opening, signal).catch((error: unknown) => {
      // No one waits for it any more.
      void opening.then((late) => late[Symbol.asyncDispose](), noop);
      throw error;
    });
    try {
      handOut = new DistributedRun(
        settings,
        options,
        desk,
        digestText(await readFile(file, "utf8")),
        ensureStateId(stateRoot),
      );
      await withAbort(recoverStalledJobs(handOut), signal);
      const workers = await withAbort(desk.workers(), signal);
      if (workers !== null) onNotice(describeWorkers(workers, version, settings.address.displayUrl));
      return handOut;
    } catch (error) {
      if (signal.aborted && !(await desk.ping()))
        onNotice(
          `${settings.address.displayUrl} does not answer: what an earlier run of the job has handed out stays there, and the next run takes it back`,
        );
      await desk[Symbol.asyncDispose]();
      throw error;
    }
  }

  convert(
    step: ConversionStep,
    host: Host,
    books: OutputRecords,
    rider: SyncStep | null,
  ): Promise<readonly OutputResult[]> {
    return dispatchConversion(this, step, host, books, rider);
  }

  synchronise(step: SyncStep, host: Host): Promise<ItemReport> {
    return dispatchSync(this, step, host);
  }

  /** How often its jobs were tried at most. */
  getTries = (step: string): number => this.steps.get(step)?.tries ?? 1;

  /** A job of a step, not yet handed out. @param first whether it goes before files of all runs */
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

  /** What becomes of a job that is being handed out. @throws interrupted */
  async dispatch(entry: JobEntry, signal: AbortSignal): Promise<JobOutcome> {
    const { step } = entry.payload;
    const known = this.getStep(step);
    // One for each job that is out.
    setMaxListeners(0, signal);
    known.total++;
    this.pendingJobsOf(step).set(entry.id, entry);
    const ending = await this.dispatcher.dispatch(entry, signal);
    this.pendingJobsOf(step).delete(entry.id);
    known.done++;
    const tries = "answer" in ending ? ending.answer.tries : ending.tries;
    known.tries = Math.max(known.tries, tries);
    this.reportProgress(step);
    return ending;
  }

  /** Takes back what a step still has out. */
  async cancelStep(step: string): Promise<void> {
    const entries = [...this.pendingJobsOf(step).values()];
    this.pendingJobs.delete(step);
    if (entries.length > 0) await this.cancelJobs(step, entries);
  }

  private async cancelJobs(step: string, entries: readonly JobEntry[]): Promise<void> {
    const left = await this.dispatcher.cancel({ runId: this.runId, step }, entries, (job) => keepFinished(this, job));
    if (left === 0) return;
    const why = (await this.dispatcher.ping()) ? "workers do not let go of them" : "the queue does not answer";
    this.options.onNotice(
      `${step}: ${left} of the jobs that were handed out stay with ${this.settings.address.displayUrl}, since ${why}: workers may still do them, and the next run of the job takes them back`,
    );
  }

  /** The step is done by workers when those of another one are done. */
  scheduleDependent(step: SyncStep, entry: JobEntry): void {
    this.dependents.set(step.name, entry);
  }

  /** The job that was handed out beforehand for the step, if one was. */
  takeDependent(step: SyncStep): JobEntry | null {
    const entry = this.dependents.get(step.name) ?? null;
    this.dependents.delete(step.name);
    return entry;
  }

  /** The step is not to be done after all. */
  async cancelDependent(step: string): Promise<void> {
    const entry = this.dependents.get(step);
    this.dependents.delete(step);
    if (entry) await this.cancelJobs(step, [entry]);
  }

  private pendingJobsOf(step: string): Map<string, JobEntry> {
    const live = this.pendingJobs.get(step) ?? new Map<string, JobEntry>();
    this.pendingJobs.set(step, live);
    return live;
  }

  private getStep(step: string) {
    const known = this.steps.get(step) ?? { done: 0, total: 0, tries: 1, workers: new Set<string>() };
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
