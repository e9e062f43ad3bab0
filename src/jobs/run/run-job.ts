/** Runs the steps of a job. A failed step stops only the steps that need it. */
import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { toAbsolute } from "../../io/s3/bucket-address.js";
import type { Registry } from "../../plugin/registry.js";
import { withSpan } from "../../tracing/span.js";
import { version } from "../../version.js";
import type { Job, Step, SyncStep } from "../job.js";
import type { DistributedRun } from "../queue/dispatcher/distributed-run.js";
import type { DistributedProgress, QueueSettings } from "../queue/dispatcher/settings.js";
import { replaceFlagsByKeys } from "../report/job-keys.js";
import { type RunReport, type StepReport, worstResult } from "../report/run-report.js";
import { lockJob } from "./job-lock.js";
import { JobState, jobFolder } from "./job-state.js";
import { runStep, skippedStep } from "./run-step.js";
import type { StepContext } from "./step-context.js";

export interface RunSettings {
  /** Path of the job file, which identifies the job's state. */
  readonly file: string;
  /** Names of the steps to run, or null for all. Steps that they need count as done. */
  readonly onlySteps: readonly string[] | null;
  /** Milliseconds to wait for another run of the job to end. */
  readonly wait: number;
  /** Overrides `Job.overdueAfter`. */
  readonly overdueAfter?: number;
  /** Dispatches the steps to workers; without it, this process runs them. */
  readonly queue?: QueueSettings;
}

export interface JobEvents {
  onStep?(report: StepReport): void;
  /** Progress of steps that workers run. */
  onProgress?(progress: DistributedProgress): void;
  /** The report cannot be saved in the job's state; thrown if there is no listener. */
  onStateSaveFailed?(error: GeoferryError): void;
}

/**
 * Errors of steps are in the report.
 * @throws usage for unknown step names, job-locked, job-overdue, job-state-damaged, job-state-newer, output-failed
 */
export async function runJob(
  job: Job,
  settings: RunSettings,
  context: StepContext,
  events: JobEvents = {},
): Promise<RunReport> {
  const chosen = selectSteps(job, settings.onlySteps);
  refuseSecrets(chosen, context.host.registry);
  const folder = jobFolder(context.stateRoot, settings.file);
  using _lock = await lockJob(
    folder,
    job,
    settings.wait,
    settings.overdueAfter ?? job.overdueAfter,
    context.host.signal,
  );
  using state = await JobState.open(folder);
  await using distributedRun = await openQueue(job, settings, folder, state, context, events);
  const stepContext = distributedRun === null ? context : { ...context, distributedRun };
  const [startedAt, start] = [new Date(), performance.now()];
  const steps = await runSteps(chosen, job.parallel, async (step, before, dependent) => {
    const missing = step.needs.find(
      (need) => before.get(need)?.result === "failed" || before.get(need)?.result === "skipped",
    );
    const report =
      missing === undefined && !context.host.signal.aborted
        ? await tracedStep(job, step, () => runStep(step, state, stepContext, dependent))
        : skippedStep(step, missing ?? null);
    if (report.attempts === 0) await distributedRun?.cancelDependent(step.name);
    events.onStep?.(report);
    return report;
  });
  const report: RunReport = {
    job: job.name,
    file: resolve(settings.file),
    geoferry: version,
    startedAt: startedAt.toISOString(),
    seconds: (performance.now() - start) / 1000,
    dryRun: context.dryRun,
    result: worstResult(steps.map(({ result }) => result)),
    steps,
  };
  if (!context.dryRun) saveReport(state, report, events);
  return report;
}

/** The caller reports the run even if its report cannot be saved. */
function saveReport(state: JobState, report: RunReport, { onStateSaveFailed }: JobEvents): void {
  try {
    state.saveReport(report);
  } catch (error) {
    if (!onStateSaveFailed) throw error;
    onStateSaveFailed(asGeoferryError(error));
  }
}

/** Wraps a step in a span. */
const tracedStep = ({ name: job }: Job, { name, kind }: Step, run: () => Promise<StepReport>): Promise<StepReport> => {
  const attributes = { "geoferry.job": job, "geoferry.step": name, "geoferry.kind": kind };
  return withSpan("step", { attributes }, async (span) => {
    const report = await run();
    span.set({ "geoferry.result": report.result, "geoferry.attempts": report.attempts });
    if (report.error) span.fail(report.error.code, report.error.message);
    return report;
  });
};

async function openQueue(
  job: Job,
  { queue, file }: RunSettings,
  folder: string,
  state: JobState,
  { host, stateRoot, dryRun, onNotice }: StepContext,
  { onProgress }: JobEvents,
): Promise<DistributedRun | null> {
  if (!queue || dryRun) return null;
  const { DistributedRun } = await import("../queue/dispatcher/distributed-run.js");
  const inKeys = (sentence: string) => onNotice(replaceFlagsByKeys(sentence));
  const options = { job, file: resolve(file), folder, stateRoot, state, host, onNotice: inKeys };
  return DistributedRun.open(queue, { ...options, ...(onProgress ? { onProgress } : {}) });
}

/** Checks addresses before any is logged or stored. @throws usage for an address with a password */
function refuseSecrets(steps: readonly Step[], registry: Registry): void {
  for (const step of steps) {
    const { inputs } = step.kind === "conversion" ? step.request : step.request.source;
    const all = step.kind === "conversion" ? [...inputs, step.request.output] : inputs;
    for (const text of all) registry.findByAddress(text)?.addresses.fileStem(text);
  }
}

/** The reports of the latest runs, oldest first; none if the job file does not exist, by which its state is found. */
export async function pastRuns(file: string, stateRoot: string, most: number): Promise<RunReport[]> {
  if (!existsSync(file)) return [];
  using state = await JobState.open(jobFolder(stateRoot, file));
  return state.runs(most);
}

/** Start of the latest successful run, or null. */
export async function lastSuccess(file: string, stateRoot: string): Promise<Date | null> {
  if (!existsSync(file)) return null;
  using state = await JobState.open(jobFolder(stateRoot, file));
  const report = state.lastSuccess();
  return report && new Date(report.startedAt);
}

function selectSteps({ steps }: Job, only: readonly string[] | null): readonly Step[] {
  if (only === null) return steps;
  const unknown = only.find((name) => !steps.some((step) => step.name === name));
  if (unknown === undefined) return steps.filter(({ name }) => only.includes(name));
  throw createError("usage", {
    reason: `the job has no step "${unknown}"; it has ${steps.map(({ name }) => name).join(", ")}`,
  });
}

const targetOf = (step: Step): string =>
  step.kind === "conversion" ? toAbsolute(step.request.output) : `map:${step.request.map}`;

/** Whether two steps write to the same target, or one into the folder of the other. */
const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(other + sep) || other.startsWith(one + sep);

type RunOne = (step: Step, before: ReadonlyMap<string, StepReport>, dependent: SyncStep | null) => Promise<StepReport>;

/** The steps that each step waits for: those that it needs, and earlier ones with an overlapping target. */
function predecessors(steps: readonly Step[], parallel: number): ReadonlyMap<string, readonly string[]> {
  const before = steps.map((step, index) => {
    const earlier = steps.slice(0, index);
    // Sequential steps keep the order of the file.
    if (parallel === 1) return earlier.map(({ name }) => name);
    const overlapping = earlier.filter((other) => overlap(targetOf(other), targetOf(step)));
    const needed = earlier.filter(({ name }) => step.needs.includes(name));
    return [...new Set([...needed, ...overlapping])].map(({ name }) => name);
  });
  return new Map(steps.map(({ name }, index) => [name, before[index]!]));
}

/** Runs up to `parallel` steps at a time, each after its predecessors. */
async function runSteps(steps: readonly Step[], parallel: number, run: RunOne): Promise<StepReport[]> {
  const done = new Map<string, StepReport>();
  const { default: pLimit } = await import("p-limit");
  const limit = pLimit(parallel);
  const before = predecessors(steps, parallel);
  const running = new Map<string, Promise<StepReport>>();
  for (const step of steps) {
    const perform = async () => {
      await Promise.all(before.get(step.name)!.map((name) => running.get(name)));
      const report = await limit(() => run(step, done, findDependent(step, steps, before, done)));
      done.set(step.name, report);
      return report;
    };
    running.set(step.name, perform());
  }
  return Promise.all(running.values());
}

/** The sync step that waits only for this step, so that workers may start it as soon as this one is done. */
function findDependent(
  { name, kind }: Step,
  steps: readonly Step[],
  before: ReadonlyMap<string, readonly string[]>,
  done: ReadonlyMap<string, StepReport>,
): SyncStep | null {
  if (kind !== "conversion") return null;
  const isSatisfied = (need: string) =>
    need === name || ["done", "unchanged", "rejects"].includes(done.get(need)?.result ?? "");
  const found = steps.find(
    (other): other is SyncStep =>
      other.kind === "sync" &&
      other.needs.includes(name) &&
      other.needs.every(isSatisfied) &&
      before.get(other.name)!.every((earlier) => earlier === name || done.has(earlier)),
  );
  return found ?? null;
}
