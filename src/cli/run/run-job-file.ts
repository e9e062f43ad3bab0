/** `geoferry run`: runs a job file with progress, metrics and reports. */
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
import { distributedProgress, renderRun, renderStep } from "../output/job-report.js";
import { printNotice } from "../output/print.js";
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
 * @throws errors before the first step, after reporting them
 */
export async function runJobFile(given: JobArguments): Promise<number> {
  const start = new FailedStart(given);
  try {
    return await perform(given, start);
  } catch (error) {
    // Errors of the report must not hide the error of the run.
    await start
      .report(error)
      .catch((failure: unknown) => renderError(asGeoferryError(failure), given, { input: given.job }));
    throw error;
  }
}

async function perform(given: JobArguments, start: FailedStart): Promise<number> {
  const seconds = (option: string, value: string | undefined) => {
    const found = wholeNumber(option, value, 0);
    return found === undefined ? undefined : found * 1000;
  };
  const wait = seconds("--wait", given.wait) ?? 0;
  const overdueAfter = seconds("--overdue-after", given.overdueAfter);
  const priority = wholeNumber("--priority", given.priority, 1) ?? 10;
  const onlySteps = namesOf("--only", given.only) ?? null;
  const queue = queueSettings(given);
  const file = resolve(given.job);
  const job = await readJobFile(given.job, process.env);
  start.job = job;
  const args: JobArguments = { ...given, ...jobService(job, given) };
  const root = resolveStateRoot(args.state, process.env);
  const reports = resolveReports(job, args);
  const display = ProgressDisplay.of(args);
  const host = await openHost(args, display.callback);
  // Paths in the job file are relative to it, wherever a scheduler starts the program.
  process.chdir(dirname(file));
  const tools = {
    host,
    service: (signal: AbortSignal) => serviceFrom(args, signal),
    traffic: trafficFrom(args),
    stateRoot: root,
    dryRun: args.dryRun ?? false,
    onNotice: (sentence: string) => printNotice(args, sentence),
  };
  const settings = {
    ...{ file, onlySteps, wait, ...(overdueAfter !== undefined && { overdueAfter }) },
    ...(queue && { queue: { ...queue, priority, service: () => serviceAddressFrom(args, process.env) } }),
  };
  await using live = await openMetrics(job, args);
  const failures: GeoferryError[] = [];
  const report = await runJob(job, settings, tools, {
    onStateSaveFailed: (error) => failures.push(error),
    onStep(step) {
      display.clear();
      live?.metrics.recordStep(step);
      renderStep(step, args);
    },
    ...(display.isShown && { onProgress: (progress) => display.show(distributedProgress(progress)) }),
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

/** The most severe status of the steps; skipped steps do not count. */
export const statusOf = ({ steps }: RunReport): number =>
  worstStatus(
    steps
      .filter(({ result }) => result !== "skipped")
      .flatMap((step) => [step, ...step.items])
      .map(({ result, error }) => (error ? exitStatus[error.kind] : result === "rejects" ? exitStatus.rejected : 0)),
  );

/** Starts the metrics endpoint, if requested. @throws option-invalid, usage, address-in-use … */
async function openMetrics(job: Job, args: JobArguments): Promise<LiveMetrics | null> {
  const place = metricsPlace(args);
  if (place === null) return null;
  const { JobMetrics } = await import("../../jobs/report/job-metrics.js");
  const { MetricsEndpoint } = await import("../output/metrics-endpoint.js");
  const metrics = new JobMetrics(job.name);
  const endpoint = await MetricsEndpoint.open(place, metrics.registry);
  printNotice(args, `metrics at ${endpoint.url}`);
  metrics.recordStart();
  return { metrics, [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() };
}

interface LiveMetrics extends AsyncDisposable {
  readonly metrics: JobMetrics;
}

/** A damaged job state causes the same error several times. */
const onceEach = (failures: readonly GeoferryError[]): readonly GeoferryError[] => [
  ...new Map(failures.map((failure) => [failure.message, failure])).values(),
];
