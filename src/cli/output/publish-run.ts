/** Writes the report files of a run and sends its failure notifications. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { createSink } from "../../io/output/create-sink.js";
import type { Job, OnFailure, Reports } from "../../jobs/job.js";
import type { RunReport } from "../../jobs/report/run-report.js";
import { lastSuccess, pastRuns } from "../../jobs/run/run-job.js";
import type { JobArguments } from "../commands/run.js";
import { restoreCommands } from "./restore-command.js";
import { toReportError } from "./self-contained-page.js";

const shownRuns = 100;

/** Paths of flags are relative to the current folder, paths of the job file to that file. */
export function resolveReports({ reports }: Pick<Job, "reports">, args: JobArguments): Reports {
  const at = (flag: string | undefined, own: string | undefined) =>
    flag !== undefined ? resolve(flag) : own === undefined ? undefined : resolve(dirname(resolve(args.job)), own);
  return {
    json: at(args.report, reports.json),
    html: at(args.page, reports.html),
    metrics: at(args.metrics, reports.metrics),
  };
}

/** Writes all reports, even if one of them fails. @returns the errors */
export async function publishReports(
  report: RunReport,
  status: number,
  { json, html, metrics }: Reports,
  root: string,
  args: JobArguments,
): Promise<GeoferryError[]> {
  const failures: GeoferryError[] = [];
  const texts: readonly [path: string | undefined, kind: keyof Reports, text: () => Promise<string>][] = [
    [json, "json", async () => `${JSON.stringify({ ...report, status }, null, 2)}\n`],
    [
      metrics,
      "metrics",
      async () => {
        const { metricsOf } = await import("../../jobs/report/job-metrics.js");
        // The metrics of this run are written even if earlier runs cannot be read.
        const last = await lastSuccess(report.file, root).catch((error: unknown) => {
          failures.push(asGeoferryError(error));
          return null;
        });
        return metricsOf(report, status, last);
      },
    ],
    [
      html,
      "html",
      async () => {
        const { renderJobPage } = await import("../job-page/page.js");
        // The stored report of this run lacks the findings of each file.
        const past = await pastRuns(report.file, root, shownRuns).catch((error: unknown) => {
          failures.push(asGeoferryError(error));
          return [];
        });
        const runs = [...past.filter(({ startedAt }) => startedAt !== report.startedAt), report];
        return renderJobPage(runs, ({ backups = [] }) => restoreCommands(backups, args));
      },
    ],
  ];
  for (const [path, kind, text] of texts) {
    if (path === undefined) continue;
    try {
      checkReplaceable(path, kind);
      await write(path, await text());
    } catch (error) {
      failures.push(toReportError(error, path));
    }
  }
  return failures;
}

/** Recognizes the reports of earlier runs. */
const isReport: Readonly<Record<keyof Reports, (head: string) => boolean>> = {
  json: (head) => head.startsWith('{\n  "job": '),
  html: (head) => head.startsWith("<!doctype html>") && head.includes('<body class="wide job">'),
  metrics: (head) => head.startsWith("# HELP geoferry_job_"),
};

/**
 * A run replaces the report of an earlier one, but no other file: the path may be that of a source, an output or the job
 * file by mistake. @throws output-failed
 */
function checkReplaceable(path: string, kind: keyof Reports): void {
  const fail = (reason: string, cause?: unknown) => createError("output-failed", { output: path, reason }, cause);
  let head: string;
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
    head = readHead(path);
  } catch (error) {
    throw fail(describeSystemError(error), error);
  }
  if (head !== "" && !isReport[kind](head))
    throw fail("the file exists, but is not a report of an earlier run; name another file");
}

/** More than the style sheet of a page. */
const headBytes = 1 << 20;

function readHead(path: string): string {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(headBytes);
    return head.toString("utf8", 0, readSync(file, head, 0, headBytes, 0));
  } finally {
    closeSync(file);
  }
}

/** Writes atomically, since other programs may read the file at any time. @throws output-failed */
async function write(path: string, text: string): Promise<void> {
  await using sink = await createSink(path, { overwrite: true });
  const file = await sink.create();
  await file.write(Buffer.from(text));
  await sink.commit();
}

/** Runs the command and the webhook of `onFailure`; prints their errors on stderr. */
export async function notify(onFailure: OnFailure | null, report: RunReport, status: number): Promise<void> {
  if (onFailure === null) return;
  const { Spool } = await import("../../io/input/spool.js");
  const { notifyFailure } = await import("../../jobs/run/notify-failure.js");
  await using spool = new Spool();
  const file = resolve(spool.folder(), "report.json");
  await write(file, JSON.stringify({ ...report, status }));
  for (const sentence of await notifyFailure(onFailure, report, status, file)) process.stderr.write(`${sentence}\n`);
}

/** `--on-failure` overrides the command of the job file. */
export const onFailureOf = (own: OnFailure | null, { onFailure: command }: JobArguments): OnFailure | null =>
  command !== undefined ? { ...own, command } : own;
