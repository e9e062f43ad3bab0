/** A run that hands its steps to workers: what it hands out, waits for, takes back, and takes over from one that died. */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { Host } from "../../pipeline/request.js";
import { stateId } from "../../sync/state-folder.js";
import { activeSpan } from "../../tracing/span.js";
import { version } from "../../version.js";
import type { Bookkeeping, Finished } from "../convert-step.js";
import type { ConversionStep, Job, Step, SynchronisationStep } from "../job.js";
import type { JobState } from "../job-state.js";
import type { ItemReport } from "../run-report.js";
import { abortable } from "./abortable.js";
import { describeWorkers } from "./connected-workers.js";
import { unheard } from "./connection.js";
import { convertThere } from "./convert-there.js";
import { Desk, type DeskSettings, type Ending, type Entry } from "./desk.js";
import { type Handed, stepDigest, textDigest, type Underway, type Work } from "./handed.js";
import { jobId } from "./names.js";
import { synchroniseThere } from "./synchronise-there.js";
import { keepDone, takeOver } from "./take-over.js";

export interface QueueSettings extends DeskSettings {
  /** Of two runs the files of the one with the lower number are first; from 1. */
  readonly priority: number;
  /** Where the maps are; asked for when a step needs it. @throws remote-unknown … */
  readonly service: () => Promise<{ readonly url: string; readonly insecureHttp: boolean }>;
}

/** How far a step is. */
export interface HandedProgress {
  readonly step: string;
  readonly done: number;
  readonly all: number;
  /** Names of those at work. */
  readonly workers: readonly string[];
}

export interface HandOutOptions {
  readonly job: Job;
  readonly file: string;
  /** Of the job's state (`jobFolder`). */
  readonly folder: string;
  readonly stateRoot: string;
  readonly state: JobState;
  readonly host: Host;
  readonly onNotice: (sentence: string) => void;
  readonly onProgress?: (progress: HandedProgress) => void;
}

export class HandOut implements AsyncDisposable {
  private readonly run = randomBytes(6).toString("hex");
  private numbers = 0;
  /** By step, what has not ended. */
  private readonly live = new Map<string, Map<string, Entry>>();
  private readonly steps = new Map<string, { done: number; all: number; tries: number; workers: Set<string> }>();
  /** Jobs of steps that workers do when those before them are done. */
  private readonly riders = new Map<string, Entry>();
  private readonly marked: string[];

  private constructor(
    readonly settings: QueueSettings,
    readonly options: HandOutOptions,
    readonly desk: Desk,
    private readonly digest: string,
    readonly stateId: string,
  ) {
    // Those of another state belong to another job, whatever its file is called.
    this.jobKey = textDigest(`${stateId}\n${options.folder}`).slice(0, 16);
    this.marked = options.host.registry.all().map(({ id }) => id);
  }

  readonly jobKey: string;

  /** The caller has the lock of the job. @throws queue-unavailable, queue-forbidden, queue-unfit, interrupted */
  static async open(settings: QueueSettings, options: HandOutOptions): Promise<HandOut> {
    const { file, stateRoot, onNotice } = options;
    let handOut: HandOut | undefined;
    const { signal } = options.host;
    const opening = Desk.open(settings, {
      onNotice,
      onUnderway: (entry, underway) => handOut?.tellUnderway(entry, underway),
    });
    const desk = await abortable(opening, signal).catch((error: unknown) => {
      // Nobody waits for it any more.
      void opening.then((late) => late[Symbol.asyncDispose](), unheard);
      throw error;
    });
    try {
      handOut = new HandOut(settings, options, desk, textDigest(await readFile(file, "utf8")), stateId(stateRoot));
      await abortable(takeOver(handOut), signal);
      const workers = await abortable(desk.workers(), signal);
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
    books: Bookkeeping,
    rider: SynchronisationStep | null,
  ): Promise<readonly Finished[]> {
    return convertThere(this, step, host, books, rider);
  }

  synchronise(step: SynchronisationStep, host: Host): Promise<ItemReport> {
    return synchroniseThere(this, step, host);
  }

  /** How often its jobs were tried at most. */
  triesOf = (step: string): number => this.steps.get(step)?.tries ?? 1;

  /** A job of a step, not yet handed out. @param first whether it goes before files of all runs */
  entry(step: Step, queue: string, work: Work, what: string, first = false): Entry {
    const { host, file } = this.options;
    const trace = activeSpan();
    const handed: Handed = {
      ...{ version, formats: this.marked, run: this.run, starter: `${hostname()} (process ${process.pid})` },
      ...{
        file,
        digest: this.digest,
        step: step.name,
        settings: stepDigest(step, host.registry),
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
  async ending(entry: Entry, signal: AbortSignal): Promise<Ending> {
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

  private async takeBack(step: string, entries: readonly Entry[]): Promise<void> {
    const left = await this.desk.cancel({ run: this.run, step }, entries, (job) => keepDone(this, job));
    if (left === 0) return;
    const why = (await this.desk.answers()) ? "workers do not let go of them" : "the queue does not answer";
    this.options.onNotice(
      `${step}: ${left} of the jobs that were handed out stay with ${this.settings.address.told}, since ${why}: workers may still do them, and the next run of the job takes them back`,
    );
  }

  /** The step is done by workers when those of another one are done. */
  ride(step: SynchronisationStep, entry: Entry): void {
    this.riders.set(step.name, entry);
  }

  /** The job that was handed out beforehand for the step, if one was. */
  boarded(step: SynchronisationStep): Entry | null {
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

  private liveOf(step: string): Map<string, Entry> {
    const live = this.live.get(step) ?? new Map<string, Entry>();
    this.live.set(step, live);
    return live;
  }

  private stepOf(step: string) {
    const known = this.steps.get(step) ?? { done: 0, all: 0, tries: 1, workers: new Set<string>() };
    this.steps.set(step, known);
    return known;
  }

  private tellUnderway({ handed: { step }, what }: Entry, { worker, notice }: Underway): void {
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
