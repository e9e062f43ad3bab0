/**
 * Prometheus metrics of a run: scraped while it runs, and written for the textfile collector of the node exporter when
 * it has ended. Labels name jobs and steps, never paths.
 */
import { Gauge, Registry } from "prom-client";
import type { RunReport, StepReport } from "./run-report.js";

/** Name, labels and meaning of each gauge; all names begin with `geoferry_`. */
export const jobGauges = {
  job_running: { labels: ["job"], help: "1 while the job runs" },
  job_last_run_timestamp_seconds: { labels: ["job"], help: "End time of the latest run, as Unix time" },
  job_last_success_timestamp_seconds: {
    labels: ["job"],
    help: "Start time of the latest successful run, as Unix time",
  },
  job_exit_status: { labels: ["job"], help: "Exit status of the latest run" },
  job_duration_seconds: { labels: ["job"], help: "Duration of the latest run" },
  step_result: { labels: ["job", "step", "result"], help: "1 for the outcome of a step in the latest run" },
  step_duration_seconds: { labels: ["job", "step"], help: "Duration of a step in the latest run" },
  step_attempts: { labels: ["job", "step"], help: "Attempts of a step in the latest run" },
  step_items: {
    labels: ["job", "step", "result"],
    help: "Files, or the map, of a step by outcome in the latest run",
  },
  step_features: {
    labels: ["job", "step", "outcome"],
    help: "Features of a step by outcome in the latest run",
  },
  step_losses: {
    labels: ["job", "step", "code"],
    help: "Lost values by kind of loss; for unchanged outputs those of the run that wrote them",
  },
  step_notices: { labels: ["job", "step", "code"], help: "Notices of a step by kind" },
  step_skipped_ranges: { labels: ["job", "step"], help: "Skipped ranges of corrupt sources, by step" },
  step_regressions: {
    labels: ["job", "step", "what"],
    help: "Regressions since the previous run of the step: more losses, notices or skipped ranges, fewer features, a moved or grown extent, fields missing or of another type, another format",
  },
} as const satisfies Readonly<Record<string, { labels: readonly string[]; help: string }>>;

/** "withoutGeometry" as a label: "without_geometry" */
const labelOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type GaugeName = keyof typeof jobGauges;

/** Metrics of one run, during and after it. */
export class JobMetrics {
  private readonly gauges: Readonly<Record<GaugeName, Gauge>>;

  constructor(
    private readonly job: string,
    readonly registry: Registry = new Registry(),
  ) {
    const entries = Object.entries(jobGauges).map(([name, { labels, help }]) => [
      name,
      new Gauge({ name: `geoferry_${name}`, help, labelNames: [...labels], registers: [registry] }),
    ]);
    this.gauges = Object.fromEntries(entries) as Record<GaugeName, Gauge>;
  }

  recordStart(): void {
    this.set("job_running", {}, 1);
  }

  recordStep(report: StepReport): void {
    const { name: step, result, seconds, attempts, counts, items } = report;
    this.set("step_result", { step, result }, 1);
    this.set("step_duration_seconds", { step }, seconds);
    this.set("step_attempts", { step }, attempts);
    for (const [name, count] of Object.entries(counts))
      this.set("step_features", { step, outcome: labelOf(name) }, count);
    this.recordFindings(report);
    for (const item of items) this.gauges.step_items.inc({ job: this.job, step, result: item.result });
  }

  private recordFindings({ name: step, losses, notices, skippedRanges, regressions }: StepReport): void {
    const { job } = this;
    for (const { code, count } of losses) this.gauges.step_losses.inc({ job, step, code }, count);
    for (const { code, count } of notices) this.gauges.step_notices.inc({ job, step, code }, count);
    this.set(
      "step_skipped_ranges",
      { step },
      skippedRanges.reduce((sum, { count }) => sum + count, 0),
    );
    for (const { what, before, now } of regressions)
      this.gauges.step_regressions.inc({ job, step, what: labelOf(what) }, Math.abs(now - (before ?? 0)));
  }

  /** @param lastSuccess start of the latest successful run */
  recordEnd({ startedAt, seconds }: RunReport, status: number, lastSuccess: Date | null): void {
    this.set("job_running", {}, 0);
    this.set("job_last_run_timestamp_seconds", {}, Date.parse(startedAt) / 1000 + seconds);
    if (lastSuccess !== null) this.set("job_last_success_timestamp_seconds", {}, lastSuccess.getTime() / 1000);
    this.set("job_exit_status", {}, status);
    this.set("job_duration_seconds", {}, seconds);
  }

  private set(name: GaugeName, labels: Readonly<Record<string, string>>, value: number): void {
    this.gauges[name].set({ job: this.job, ...labels }, value);
  }
}

/** @param lastSuccess start of the latest successful run @returns the text of a .prom file */
export function metricsOf(report: RunReport, status: number, lastSuccess: Date | null): Promise<string> {
  const metrics = new JobMetrics(report.job);
  for (const step of report.steps) metrics.recordStep(step);
  metrics.recordEnd(report, status, lastSuccess);
  return metrics.registry.metrics();
}
