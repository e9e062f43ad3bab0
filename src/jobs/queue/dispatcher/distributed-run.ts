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
import { type DispatcherSettings, JobDispatcher, type JobEntry, type JobOutcome } from "./job-dispatcher.js";
import { keepFinished, recoverStalledJobs } from "./recover-stalled-jobs.js";

export interface QueueSettings extends DispatcherSettings {
  /** Of two runs the files of the one with the lower number are first; from 1. */
  readonly priority: number;
  /** Where the maps are; asked for when a step needs it. @throws remote-unknown … */
  readonly service: () => Promise<{ readonly url: string; readonly insecureHttp: boolean }>;
}

/** How far a step is. */
export interface DistributedProgress {
  readonly step: string;
  readonly done: number;
  readonly all: number;
  /** Names of those at work. */
  readonly workers: readonly string[];
}

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
  private readonly run = randomBytes(6).toString("hex");
  private numbers = 0;
  /** By step, what has not ended. */
  private readonly live = new Map<string, Map<string, JobEntry>>();
  private readonly steps = new Map<string, { done: number; all: number; tries: number; workers: Set<string> }>();
  /** Jobs of steps that workers do when those before them are done. */
  private readonly riders = new Map<string, JobEntry>();
  private readonly marked: string[];

  private constructor(
    readonly settings: QueueSettings,
    readonly options: DistributedRunOptions,
    readonly desk: JobDispatcher,
    private readonly digest: string,
    readonly stateId: string,
  ) {
    // Those of another state belong to another job, whatever its file is called.
    this.jobKey = digestText(`${stateId}\n${options.folder}`).slice(0, 16);
    this.marked = options.host.registry.all().map(({ id }) => id);
  }

  readonly jobKey: string;

  /** The caller has the lock of the job. @throws queue-unavailable, queue-forbidden, queue-incompatible, interrupted */
  static async open(settings: QueueSettings, options: DistributedRunOptions): Promise<DistributedRun> {
    const { file, stateRoot, onNotice } = options;
    let handOut: DistributedRun | undefined;
    const { signal } = options.host;
    const opening = JobDispatcher.open(settings, {
      onNotice,
      onUnderway: (entry, underway) => handOut?.tellUnderway(entry, underway),
    });
    const desk = await withAbort(opening, signal).catch((error: unknown) => {
      // Nobody waits for it any more.
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
      if (workers !== null) onNotice(describeWorkers(workers, version, settings.address.told));
      return handOut;
    } catch (error) {
      if (signal.aborted && !(await desk.answers()))
        onNotice(
          `${settings.address.told} does not answer: what an earlier run of the job has handed out stays there, and the next run takes it back`,
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
  triesOf = (step: string): number => this.steps.get(step)?.tries ?? 1;

  /** A job of a step, not yet handed out. @param first whether it goes before files of all runs */
  entry(step: Step, queue: string, work: Work, what: string, first = false): JobEntry {
    const { host, file } = this.options;
    const trace = activeTraceHeaders();
    const handed: JobPayload = {
      ...{ version, formats: this.marked, run: this.run, starter: `${hostname()} (process ${process.pid})` },
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
      ...{ queue, handed, what, id: jobId(this.jobKey, this.run, this.numbers++) },
      options: {
        attempts: step.retries + 1,
        backoff: { type: "exponential", delay: step.retryDelay },
        stackTraceLimit: 0,
        ...(first ? {} : { priority: this.settings.priority }),
      },
    };
  }

  /** What becomes of a job that is being handed out. @throws interrupted */
  async ending(entry: JobEntry, signal: AbortSignal): Promise<JobOutcome> {
    const { step } = entry.handed;
    const known = this.stepOf(step);
    // One for each job that is out.
    setMaxListeners(0, signal);
    known.all++;
    this.liveOf(step).set(entry.id, entry);
    const ending = await this.desk.ending(entry, signal);
    this.liveOf(step).delete(entry.id);
    known.done++;
    const tries = "answer" in ending ? ending.answer.tries : ending.tries;
    known.tries = Math.max(known.tries, tries);
    this.tellProgress(step);
    return ending;
  }

  /** Takes back what a step still has out. */
  async withdraw(step: string): Promise<void> {
    const entries = [...this.liveOf(step).values()];
    this.live.delete(step);
    if (entries.length > 0) await this.takeBack(step, entries);
  }

  private async takeBack(step: string, entries: readonly JobEntry[]): Promise<void> {
    const left = await this.desk.cancel({ run: this.run, step }, entries, (job) => keepFinished(this, job));
    if (left === 0) return;
    const why = (await this.desk.answers()) ? "workers do not let go of them" : "the queue does not answer";
    this.options.onNotice(
      `${step}: ${left} of the jobs that were handed out stay with ${this.settings.address.told}, since ${why}: workers may still do them, and the next run of the job takes them back`,
    );
  }

  /** The step is done by workers when those of another one are done. */
  ride(step: SyncStep, entry: JobEntry): void {
    this.riders.set(step.name, entry);
  }

  /** The job that was handed out beforehand for the step, if one was. */
  boarded(step: SyncStep): JobEntry | null {
    const entry = this.riders.get(step.name) ?? null;
    this.riders.delete(step.name);
    return entry;
  }

  /** The step is not to be done after all. */
  async leave(step: string): Promise<void> {
    const entry = this.riders.get(step);
    this.riders.delete(step);
    if (entry) await this.takeBack(step, [entry]);
  }

  private liveOf(step: string): Map<string, JobEntry> {
    const live = this.live.get(step) ?? new Map<string, JobEntry>();
    this.live.set(step, live);
    return live;
  }

  private stepOf(step: string) {
    const known = this.steps.get(step) ?? { done: 0, all: 0, tries: 1, workers: new Set<string>() };
    this.steps.set(step, known);
    return known;
  }

  private tellUnderway({ handed: { step }, what }: JobEntry, { worker, notice }: JobProgress): void {
    this.stepOf(step).workers.add(worker);
    if (notice !== undefined) this.options.onNotice(`${what}, on ${worker}: ${notice}`);
    this.tellProgress(step);
  }

  private tellProgress(step: string): void {
    const { done, all, workers } = this.stepOf(step);
    this.options.onProgress?.({ step, done, all, workers: [...workers] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const step of [...this.riders.keys()]) await this.leave(step);
    await this.desk[Symbol.asyncDispose]();
  }
}
