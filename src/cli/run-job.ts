/** `geoferry run`: a job, what is told of it meanwhile, and its report. */
import { dirname, resolve } from "node:path";
import { asGeoferryError, type GeoferryError } from "../errors.js";
import { createSink } from "../io/sink.js";
import type { Job, OnFailure, Reports } from "../jobs/job.js";
import type { JobMetrics } from "../jobs/job-metrics.js";
import { readJobFile } from "../jobs/read-job.js";
import { lastSuccess, pastRuns, runJob } from "../jobs/run-job.js";
import type { RunReport } from "../jobs/run-report.js";
import { stateRoot } from "../sync/state-folder.js";
import type { JobArguments } from "./commands/run.js";
import { exitStatus, worst } from "./exit.js";
import { openHost } from "./host.js";
import { describeHanded, renderRun, renderStep } from "./job-report.js";
import { jobService } from "./job-service.js";
import { metricsPlace } from "./metrics-options.js";
import { ProgressDisplay } from "./progress.js";
import { queueFrom } from "./queue-options.js";
import { renderError } from "./render.js";
import { restoreCommands } from "./restore-command.js";
import { tell } from "./say.js";
import { serviceAddressFrom, serviceFrom, trafficFrom } from "./service-options.js";
import { interrupted } from "./signals.js";

/** So many runs are on the page. */
const shownRuns = 100;

/**
 * @param wait milliseconds
 * @param priority of its files in a queue
 * @returns the exit status
 * @throws what stops it before its first step
 */
export async function runJobFile(
  asked: JobArguments,
  only: readonly string[] | null,
  wait: number,
  priority: number,
): Promise<number> {
  const queue = queueFrom(asked);
  const file = resolve(asked.job);
  const job = await readJobFile(asked.job, process.env);
  const args: JobArguments = { ...asked, ...jobService(job, asked) };
  const root = stateRoot(args.state, process.env);
  const reports = reportsOf(job, args);
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
    ...{ file, only, wait },
    ...(queue && { queue: { ...queue, priority, service: () => serviceAddressFrom(args, process.env) } }),
  };
  await using live = await openMetrics(job, args);
  const display = new ProgressDisplay(process.stderr);
  const failures: GeoferryError[] = [];
  const report = await runJob(job, settings, tools, {
    onForgotten: (error) => failures.push(error),
    onStep(step) {
      display.clear();
      live?.metrics.stepEnded(step);
      renderStep(step, args);
    },
    ...(args.quiet || args.json ? {} : { onProgress: (progress) => display.show(() => describeHanded(progress)) }),
  });
  display.clear();
  const status = statusOf(report);
  if (!tools.dryRun) failures.push(...(await publish(report, status, reports, root, args)));
  const ending = worst([status, ...failures.map(({ kind }) => exitStatus[kind])]);
  renderRun(report, ending, args);
  for (const failure of onceEach(failures)) renderError(failure, args, { input: args.job });
  if (ending !== 0 && !tools.dryRun && !interrupted.aborted) await tellOthers(job, report, ending, args);
  return ending;
}

/** The worst of its steps; what was skipped for another has that one's. */
export const statusOf = ({ steps }: RunReport): number =>
  worst(
    steps
      .filter(({ result }) => result !== "skipped")
      .flatMap((step) => [step, ...step.items])
      .map(({ result, error }) => (error ? exitStatus[error.kind] : result === "rejects" ? exitStatus.rejected : 0)),
  );

/** What is told of the run while it goes on, where somebody asks for it. @throws option-invalid, usage, address-in-use … */
async function openMetrics(job: Job, args: JobArguments): Promise<LiveMetrics | null> {
  const place = metricsPlace(args);
  if (place === null) return null;
  const { JobMetrics } = await import("../jobs/job-metrics.js");
  const { MetricsEndpoint } = await import("./metrics-endpoint.js");
  const metrics = new JobMetrics(job.name);
  const endpoint = await MetricsEndpoint.open(place, metrics.registry);
  tell(args, `metrics at ${endpoint.url}`);
  metrics.began();
  return { metrics, [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() };
}

interface LiveMetrics extends AsyncDisposable {
  readonly metrics: JobMetrics;
}

/** Flags are relative to where the command was given, the file's own names to the file. */
function reportsOf({ reports }: Job, args: JobArguments): Reports {
  const at = (flag: string | undefined, own: string | undefined) =>
    flag !== undefined ? resolve(flag) : own === undefined ? undefined : resolve(dirname(resolve(args.job)), own);
  return {
    json: at(args.report, reports.json),
    html: at(args.page, reports.html),
    metrics: at(args.metrics, reports.metrics),
  };
}

/** What is wrong with the memory of a job stops several things at once. */
const onceEach = (failures: readonly GeoferryError[]): readonly GeoferryError[] => [
  ...new Map(failures.map((failure) => [failure.message, failure])).values(),
];

/** That one of them cannot be written stops neither the others nor who is told of failures. @returns what went wrong */
async function publish(
  report: RunReport,
  status: number,
  { json, html, metrics }: Reports,
  root: string,
  args: JobArguments,
): Promise<GeoferryError[]> {
  const failures: GeoferryError[] = [];
  const texts: readonly [path: string | undefined, text: () => Promise<string>][] = [
    [json, async () => `${JSON.stringify({ ...report, status }, null, 2)}\n`],
    [
      metrics,
      async () => {
        const { metricsOf } = await import("../jobs/job-metrics.js");
        // Who watches has to know of this run, whatever can be told of earlier ones.
        const last = await lastSuccess(report.file, root).catch((error: unknown) => {
          failures.push(asGeoferryError(error));
          return null;
        });
        return metricsOf(report, status, last);
      },
    ],
    [
      html,
      async () => {
        const { jobPage } = await import("./job-page/page.js");
        // What is kept of this run says less of each file.
        const before = (await pastRuns(report.file, root, shownRuns)).filter(({ began }) => began !== report.began);
        return jobPage([...before, report], ({ backups = [] }) => restoreCommands(backups, args));
      },
    ],
  ];
  for (const [path, text] of texts) {
    if (path === undefined) continue;
    try {
      await write(path, await text());
    } catch (error) {
      failures.push(asGeoferryError(error));
    }
  }
  return failures;
}

/** Whole, or not at all: others read it at any time. @throws output-failed */
async function write(path: string, text: string): Promise<void> {
  await using sink = await createSink(path, { overwrite: true });
  const file = await sink.create();
  await file.write(Buffer.from(text));
  await sink.commit();
}

async function tellOthers(job: Job, report: RunReport, status: number, args: JobArguments): Promise<void> {
  const { onFailure: command } = args;
  const onFailure: OnFailure | null = command !== undefined ? { ...job.onFailure, command } : job.onFailure;
  if (onFailure === null) return;
  const { Spool } = await import("../io/spool.js");
  const { tellFailure } = await import("../jobs/tell-failure.js");
  await using spool = new Spool();
  const file = resolve(spool.folder(), "report.json");
  await write(file, JSON.stringify({ ...report, status }));
  for (const sentence of await tellFailure(onFailure, report, status, file)) process.stderr.write(`${sentence}\n`);
}
