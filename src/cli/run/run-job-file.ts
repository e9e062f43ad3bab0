/** `geoferry run`: a job, what is told of it meanwhile, and its report. */
import { dirname, resolve } from "node:path";
import { asGeoferryError, type GeoferryError } from "../../errors.js";
import { readJobFile } from "../../jobs/file/read-job.js";
import type { Job } from "../../jobs/job.js";
import type { JobMetrics } from "../../jobs/report/job-metrics.js";
import type { RunReport } from "../../jobs/report/run-report.js";
import { runJob } from "../../jobs/run/run-job.js";
import { resolveStateRoot } from "../../sync/state/state-folder.js";
import type { JobArguments } from "../commands/run.js";
import { exitStatus, worstStatus } from "../exit.js";
import { openHost } from "../host.js";
import { metricsPlace } from "../options/metrics-options.js";
import { queueSettings } from "../options/queue-options.js";
import { serviceAddressFrom, serviceFrom, trafficFrom } from "../options/service-options.js";
import { describeDistributedProgress, renderRun, renderStep } from "../output/job-report.js";
import { tell } from "../output/print.js";
import { ProgressDisplay } from "../output/progress.js";
import { notify, onFailureOf, publishReports, resolveReports } from "../output/publish-run.js";
import { renderError } from "../output/render.js";
import { namesOf } from "../parse/arguments.js";
import { wholeNumber } from "../parse/values.js";
import { interrupted } from "../signals.js";
import { FailedStart } from "./failed-start.js";
import { jobService } from "./job-service.js";

/**
 * @returns the exit status
 * @throws what stops it before its first step, after that was reported
 */
export async function runJobFile(asked: JobArguments): Promise<number> {
  const start = new FailedStart(asked);
  try {
    return await perform(asked, start);
  } catch (error) {
    // What goes wrong with the report hides nothing of why the run ended.
    await start
      .report(error)
      .catch((failure: unknown) => renderError(asGeoferryError(failure), asked, { input: asked.job }));
    throw error;
  }
}

async function perform(asked: JobArguments, start: FailedStart): Promise<number> {
  const seconds = (option: string, value: string | undefined) => {
    const found = wholeNumber(option, value, 0);
    return found === undefined ? undefined : found * 1000;
  };
  const wait = seconds("--wait", asked.wait) ?? 0;
  const overdueAfter = seconds("--overdue-after", asked.overdueAfter);
  const priority = wholeNumber("--priority", asked.priority, 1) ?? 10;
  const onlySteps = namesOf("--only", asked.only) ?? null;
  const queue = queueSettings(asked);
  const file = resolve(asked.job);
  const job = await readJobFile(asked.job, process.env);
  start.job = job;
  const args: JobArguments = { ...asked, ...jobService(job, asked) };
  const root = resolveStateRoot(args.state, process.env);
  const reports = resolveReports(job, args);
  const host = await openHost(args);
  // Paths in the file are relative to it: a scheduler starts programs anywhere.
  process.chdir(dirname(file));
  const tools = {
    host,
    service: (signal: AbortSignal) => serviceFrom(args, signal),
    traffic: trafficFrom(args),
    stateRoot: root,
    dryRun: args.dryRun ?? false,
    onNotice: (sentence: string) => tell(args, sentence),
  };
  const settings = {
    ...{ file, onlySteps, wait, ...(overdueAfter !== undefined && { overdueAfter }) },
    ...(queue && { queue: { ...queue, priority, service: () => serviceAddressFrom(args, process.env) } }),
  };
  await using live = await openMetrics(job, args);
  const display = new ProgressDisplay(process.stderr);
  const failures: GeoferryError[] = [];
  const report = await runJob(job, settings, tools, {
    onStateSaveFailed: (error) => failures.push(error),
    onStep(step) {
      display.clear();
      live?.metrics.recordStep(step);
      renderStep(step, args);
    },
    ...(args.quiet || args.json
      ? {}
      : { onProgress: (progress) => display.show(() => describeDistributedProgress(progress)) }),
  });
  start.isReported = true;
  display.clear();
  const status = statusOf(report);
  if (!tools.dryRun) failures.push(...(await publishReports(report, status, reports, root, args)));
  const ending = worstStatus([status, ...failures.map(({ kind }) => exitStatus[kind])]);
  renderRun(report, ending, args);
  for (const failure of onceEach(failures)) renderError(failure, args, { input: args.job });
  if (ending !== 0 && !tools.dryRun && !interrupted.aborted)
    await notify(onFailureOf(job.onFailure, args), report, ending);
  return ending;
}

/** The worst of its steps; what was skipped for another has that one's. */
export const statusOf = ({ steps }: RunReport): number =>
  worstStatus(
    steps
      .filter(({ result }) => result !== "skipped")
      .flatMap((step) => [step, ...step.items])
      .map(({ result, error }) => (error ? exitStatus[error.kind] : result === "rejects" ? exitStatus.rejected : 0)),
  );

/** What is told of the run while it goes on, where somebody asks for it. @throws option-invalid, usage, address-in-use … */
async function openMetrics(job: Job, args: JobArguments): Promise<LiveMetrics | null> {
  const place = metricsPlace(args);
  if (place === null) return null;
  const { JobMetrics } = await import("../../jobs/report/job-metrics.js");
  const { MetricsEndpoint } = await import("../output/metrics-endpoint.js");
  const metrics = new JobMetrics(job.name);
  const endpoint = await MetricsEndpoint.open(place, metrics.registry);
  tell(args, `metrics at ${endpoint.url}`);
  metrics.recordStart();
  return { metrics, [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() };
}

interface LiveMetrics extends AsyncDisposable {
  readonly metrics: JobMetrics;
}

/** What is wrong with the memory of a job stops several things at once. */
const onceEach = (failures: readonly GeoferryError[]): readonly GeoferryError[] => [
  ...new Map(failures.map((failure) => [failure.message, failure])).values(),
];
