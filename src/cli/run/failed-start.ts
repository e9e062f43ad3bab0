/** Reports a run that failed before its first step, as far as flags and the readable parts of the job file allow. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { type ReportSettings, readReportSettings } from "../../jobs/file/report-settings.js";
import type { Job } from "../../jobs/job.js";
import { type RunReport, toErrorReport } from "../../jobs/report/run-report.js";
import { isFirstSkip } from "../../jobs/run/job-lock.js";
import { resolveStateRoot } from "../../sync/state/state-folder.js";
import { version } from "../../version.js";
import type { JobArguments } from "../commands/run.js";
import { exitStatus } from "../exit.js";
import { notify, onFailureOf, publishReports, resolveReports } from "../output/publish-run.js";
import { renderError } from "../output/render.js";
import { interrupted } from "../signals.js";

export class FailedStart {
  /** Set when the job file has been parsed. */
  job: Job | null = null;
  /** Whether steps were started, so that the run has a report. */
  isReported = false;
  private readonly startedAt = new Date();
  private readonly file: string;
  private readonly folder = process.cwd();

  constructor(private readonly args: JobArguments) {
    this.file = resolve(args.job);
  }

  /** @param thrown the error, which the caller prints */
  async report(thrown: unknown): Promise<void> {
    if (this.isReported || this.args.dryRun) return;
    const { args } = this;
    const isStopped = interrupted.aborted;
    const error = isStopped ? createError("interrupted", {}, thrown) : asGeoferryError(thrown);
    const status = exitStatus[error.kind];
    // Paths of flags are relative to the initial folder; the run may have changed to the folder of the job file.
    process.chdir(this.folder);
    const channels = await this.readReportSettings();
    const root = resolveStateRoot(args.state, process.env);
    const reports = resolveReports(channels, args);
    const report = this.createReport(error, channels.name);
    const isRepeated = error.code === "job-locked" && !isFirstSkip(root, this.file);
    const failures = await publishReports(report, status, reports, root, args);
    // Reading earlier runs may fail with the same error.
    for (const failure of failures.filter(({ message }) => message !== error.message))
      renderError(failure, args, { input: args.job });
    if (isStopped || isRepeated) return;
    this.reportUnreadable(channels.unreadable);
    const home = dirname(this.file);
    if (existsSync(home)) process.chdir(home);
    await notify(onFailureOf(channels.onFailure, args), report, status);
  }

  private async readReportSettings(): Promise<ReportSettings> {
    if (this.job) return { ...this.job, unreadable: [] };
    const nothing = { name: null, onFailure: null, reports: {} };
    try {
      return readReportSettings(await readFile(this.file, "utf8"), this.file, process.env);
    } catch (error) {
      // A missing file is already reported.
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      return { ...nothing, unreadable: isMissing ? [] : ["onFailure"] };
    }
  }

  private createReport(error: GeoferryError, name: string | null): RunReport {
    return {
      job: name ?? basename(this.file, extname(this.file)),
      file: this.file,
      geoferry: version,
      startedAt: this.startedAt.toISOString(),
      seconds: (Date.now() - this.startedAt.getTime()) / 1000,
      dryRun: false,
      result: error.code === "job-locked" ? "skipped" : "failed",
      error: toErrorReport(error),
      steps: [],
    };
  }

  private reportUnreadable(members: readonly string[]): void {
    const isKnown = this.args.onFailure !== undefined;
    const missing = members.filter((name) => !(isKnown && name.startsWith("onFailure")));
    if (missing.length === 0) return;
    const advice = missing.some((name) => name.startsWith("onFailure"))
      ? ", or use --on-failure, which does not depend on the file"
      : "";
    process.stderr.write(
      `${this.args.job}: cannot read ${missing.join(", ")}, so this failure is not reported there; correct the file${advice}\n`,
    );
  }
}
