/** A job from its first step to its last: what stops one stops no other that does not need it. */
import { createRequire } from "node:module";
import { resolve, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fault } from "../errors.js";
import type { Registry } from "../plugin/registry.js";
import { FolderLock } from "../sync/lock.js";
import type { Job, Step } from "./job.js";
import { JobState, jobFolder } from "./job-state.js";
import { type RunReport, type StepReport, worstResult } from "./run-report.js";
import { type JobTools, runStep, skippedStep } from "./run-step.js";

export interface RunSettings {
  /** The job's file, by which it is known from run to run. */
  readonly file: string;
  /** Names of the steps to run; all where null. Those that they need count as done. */
  readonly only: readonly string[] | null;
  /** Milliseconds to wait for another run of the job to end; 0 does not wait. */
  readonly wait: number;
}

/** What a run tells while it goes on. */
export interface Watcher {
  onStep?(report: StepReport): void;
}

const { version } = createRequire(import.meta.url)("geoferry/package.json") as { version: string };

/**
 * @throws usage where there is no such step, job-locked, output-failed; what goes wrong in a step is in its report
 */
export async function runJob(
  job: Job,
  settings: RunSettings,
  tools: JobTools,
  watcher: Watcher = {},
): Promise<RunReport> {
  const chosen = chosenSteps(job, settings.only);
  refuseSecrets(chosen, tools.host.registry);
  const folder = jobFolder(tools.stateRoot, settings.file);
  using _lock = await lockJob(folder, job, settings.wait, tools.host.signal);
  using state = await JobState.open(folder);
  const [began, start] = [new Date(), performance.now()];
  const steps = await runSteps(chosen, job.parallel, async (step, before) => {
    const missing = step.needs.find(
      (need) => before.get(need)?.result === "failed" || before.get(need)?.result === "skipped",
    );
    const report =
      missing === undefined && !tools.host.signal.aborted
        ? await runStep(step, state, tools)
        : skippedStep(step, missing ?? null);
    watcher.onStep?.(report);
    return report;
  });
  const report: RunReport = {
    job: job.name,
    file: resolve(settings.file),
    geoferry: version,
    began: began.toISOString(),
    seconds: (performance.now() - start) / 1000,
    dryRun: tools.dryRun,
    result: worstResult(steps.map(({ result }) => result)),
    steps,
  };
  if (!tools.dryRun) state.keep(report);
  return report;
}

/** Before any address is told or kept. @throws usage where one says a password */
function refuseSecrets(steps: readonly Step[], registry: Registry): void {
  for (const step of steps) {
    const { inputs } = step.kind === "conversion" ? step.request : step.request.source;
    const all = step.kind === "conversion" ? [...inputs, step.request.output] : inputs;
    for (const text of all) registry.ofAddress(text)?.addresses.stem(text);
  }
}

/** The reports of the job's latest runs, in the order of their time. */
export async function pastRuns(file: string, stateRoot: string, most: number): Promise<RunReport[]> {
  using state = await JobState.open(jobFolder(stateRoot, file));
  return state.runs(most);
}

/** When the latest run of the job began that ended well; null where none did. */
export async function lastSuccess(file: string, stateRoot: string): Promise<Date | null> {
  using state = await JobState.open(jobFolder(stateRoot, file));
  const report = state.lastSuccess();
  return report && new Date(report.began);
}

function chosenSteps({ steps }: Job, only: readonly string[] | null): readonly Step[] {
  if (only === null) return steps;
  const unknown = only.find((name) => !steps.some((step) => step.name === name));
  if (unknown === undefined) return steps.filter(({ name }) => only.includes(name));
  throw fault("usage", {
    reason: `the job has no step "${unknown}"; it has ${steps.map(({ name }) => name).join(", ")}`,
  });
}

/** What a step writes. */
const targetOf = (step: Step): string =>
  step.kind === "conversion" ? resolve(step.request.output) : `map:${step.request.map}`;

/** Whether two steps may write the same, or one into the other's folder: they do so one after the other. */
const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(other + sep) || other.startsWith(one + sep);

type RunOne = (step: Step, before: ReadonlyMap<string, StepReport>) => Promise<StepReport>;

/** So many at a time; each after those that it needs, and after those before it that write what it writes. */
async function runSteps(steps: readonly Step[], parallel: number, run: RunOne): Promise<StepReport[]> {
  const done = new Map<string, StepReport>();
  const { default: pLimit } = await import("p-limit");
  const limit = pLimit(parallel);
  const under = new Map<string, Promise<StepReport>>();
  for (const [index, step] of steps.entries()) {
    const target = targetOf(step);
    const rivals = steps.slice(0, index).filter((other) => overlap(targetOf(other), target));
    const before = [...step.needs, ...rivals.map(({ name }) => name)].flatMap((name) => under.get(name) ?? []);
    // One at a time is in the order of the file.
    if (parallel === 1) before.push(...under.values());
    const perform = async () => {
      await Promise.all(before);
      const report = await limit(() => run(step, done));
      done.set(step.name, report);
      return report;
    };
    under.set(step.name, perform());
  }
  return Promise.all(under.values());
}

/** Milliseconds between two looks at the lock. */
const pulse = 500;

async function lockJob(folder: string, job: Job, wait: number, signal: AbortSignal): Promise<FolderLock> {
  const until = Date.now() + wait;
  for (;;) {
    try {
      return await FolderLock.acquire(folder, (holder) => fault("job-locked", { job: job.name, holder }));
    } catch (error) {
      if ((error as { code?: string }).code !== "job-locked" || Date.now() >= until) throw error;
      await pause(Math.min(pulse, Math.max(0, until - Date.now())), undefined, { signal }).catch((cause: unknown) => {
        throw fault("interrupted", {}, cause);
      });
    }
  }
}
