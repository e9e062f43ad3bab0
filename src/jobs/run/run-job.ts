/** A job from its first step to its last: what stops one stops no other that does not need it. */
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
  /** The job's file, by which it is known from run to run. */
  readonly file: string;
  /** Names of the steps to run; all where null. Those that they need count as done. */
  readonly onlySteps: readonly string[] | null;
  /** Milliseconds to wait for another run of the job to end; 0 does not wait. */
  readonly wait: number;
  /** Milliseconds after which another run that is still at work is a failure of this one; the job says it where absent. */
  readonly overdueAfter?: number;
  /** Where workers take the steps from; this process does them where absent. */
  readonly queue?: QueueSettings;
}

/** What a run tells while it goes on. */
export interface JobEvents {
  onStep?(report: StepReport): void;
  /** Of steps that workers do. */
  onProgress?(progress: DistributedProgress): void;
  /** The run cannot be remembered; where no one listens, that is thrown. */
  onStateReset?(error: GeoferryError): void;
}

/**
 * @throws usage where there is no such step, job-locked, job-overdue, job-state-damaged, job-state-newer, output-failed; what goes wrong in a step is in its report
 */
export async function runJob(
  job: Job,
  settings: RunSettings,
  tools: StepContext,
  watcher: JobEvents = {},
): Promise<RunReport> {
  const chosen = selectSteps(job, settings.onlySteps);
  refuseSecrets(chosen, tools.host.registry);
  const folder = jobFolder(tools.stateRoot, settings.file);
  using _lock = await lockJob(folder, job, settings.wait, settings.overdueAfter ?? job.overdueAfter, tools.host.signal);
  using state = await JobState.open(folder);
  await using handOut = await openQueue(job, settings, folder, state, tools, watcher);
  const within = handOut === null ? tools : { ...tools, distributedRun: handOut };
  const [began, start] = [new Date(), performance.now()];
  const steps = await runSteps(chosen, job.parallel, async (step, before, rider) => {
    const missing = step.needs.find(
      (need) => before.get(need)?.result === "failed" || before.get(need)?.result === "skipped",
    );
    const report =
      missing === undefined && !tools.host.signal.aborted
        ? await tracedStep(job, step, () => runStep(step, state, within, rider))
        : skippedStep(step, missing ?? null);
    if (report.tries === 0) await handOut?.cancelDependent(step.name);
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
  if (!tools.dryRun) saveReport(state, report, watcher);
  return report;
}

/** What was done is told, whether it can be remembered or not. */
function saveReport(state: JobState, report: RunReport, { onStateReset }: JobEvents): void {
  try {
    state.keep(report);
  } catch (error) {
    if (!onStateReset) throw error;
    onStateReset(asGeoferryError(error));
  }
}

/** A step as a span; what stopped it is in its report. */
const tracedStep = ({ name: job }: Job, { name, kind }: Step, run: () => Promise<StepReport>): Promise<StepReport> => {
  const attributes = { "geoferry.job": job, "geoferry.step": name, "geoferry.kind": kind };
  return withSpan("step", { attributes }, async (span) => {
    const report = await run();
    span.set({ "geoferry.result": report.result, "geoferry.tries": report.tries });
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

/** Before any address is told or kept. @throws usage where one says a password */
function refuseSecrets(steps: readonly Step[], registry: Registry): void {
  for (const step of steps) {
    const { inputs } = step.kind === "conversion" ? step.request : step.request.source;
    const all = step.kind === "conversion" ? [...inputs, step.request.output] : inputs;
    for (const text of all) registry.findByAddress(text)?.addresses.fileStem(text);
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

function selectSteps({ steps }: Job, only: readonly string[] | null): readonly Step[] {
  if (only === null) return steps;
  const unknown = only.find((name) => !steps.some((step) => step.name === name));
  if (unknown === undefined) return steps.filter(({ name }) => only.includes(name));
  throw createError("usage", {
    reason: `the job has no step "${unknown}"; it has ${steps.map(({ name }) => name).join(", ")}`,
  });
}

/** What a step writes. */
const targetOf = (step: Step): string =>
  step.kind === "conversion" ? toAbsolute(step.request.output) : `map:${step.request.map}`;

/** Whether two steps may write the same, or one into the other's folder: they do so one after the other. */
const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(other + sep) || other.startsWith(one + sep);

type RunOne = (step: Step, before: ReadonlyMap<string, StepReport>, rider: SyncStep | null) => Promise<StepReport>;

/** Names of the steps that each one comes after: those that it needs, and those before it that write what it writes. */
function predecessors(steps: readonly Step[], parallel: number): ReadonlyMap<string, readonly string[]> {
  const before = steps.map((step, index) => {
    const earlier = steps.slice(0, index);
    // One at a time is in the order of the file.
    if (parallel === 1) return earlier.map(({ name }) => name);
    const rivals = earlier.filter((other) => overlap(targetOf(other), targetOf(step)));
    const needed = earlier.filter(({ name }) => step.needs.includes(name));
    return [...new Set([...needed, ...rivals])].map(({ name }) => name);
  });
  return new Map(steps.map(({ name }, index) => [name, before[index]!]));
}

/** So many at a time, each after its predecessors. */
async function runSteps(steps: readonly Step[], parallel: number, run: RunOne): Promise<StepReport[]> {
  const done = new Map<string, StepReport>();
  const { default: pLimit } = await import("p-limit");
  const limit = pLimit(parallel);
  const before = predecessors(steps, parallel);
  const under = new Map<string, Promise<StepReport>>();
  for (const step of steps) {
    const perform = async () => {
      await Promise.all(before.get(step.name)!.map((name) => under.get(name)));
      const report = await limit(() => run(step, done, findDependent(step, steps, before, done)));
      done.set(step.name, report);
      return report;
    };
    under.set(step.name, perform());
  }
  return Promise.all(under.values());
}

/** The map's step that needs this one and waits for nothing else: workers may do it as soon as this one is done. */
function findDependent(
  { name, kind }: Step,
  steps: readonly Step[],
  before: ReadonlyMap<string, readonly string[]>,
  done: ReadonlyMap<string, StepReport>,
): SyncStep | null {
  if (kind !== "conversion") return null;
  const isWell = (need: string) =>
    need === name || ["done", "unchanged", "rejects"].includes(done.get(need)?.result ?? "");
  const rider = steps.find(
    (other): other is SyncStep =>
      other.kind === "synchronisation" &&
      other.needs.includes(name) &&
      other.needs.every(isWell) &&
      before.get(other.name)!.every((earlier) => earlier === name || done.has(earlier)),
  );
  return rider ?? null;
}
