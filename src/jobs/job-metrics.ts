/**
 * A run in the words of Prometheus, for the textfile collector of its node exporter. Labels are names of jobs and steps,
 * and no path.
 */
import { Gauge, Registry } from "prom-client";
import type { RunReport } from "./run-report.js";

/** @param lastSuccess when the job last ended well, if it ever did @returns the text of a .prom file */
export function metricsOf(report: RunReport, status: number, lastSuccess: Date | null): Promise<string> {
  const registry = new Registry();
  const { job, began, seconds, steps } = report;
  const gauge = (name: string, help: string, labelNames: readonly string[]) =>
    new Gauge({ name: `geoferry_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const ended = Date.parse(began) / 1000 + seconds;
  gauge("job_last_run_timestamp_seconds", "When the latest run ended, since 1970", ["job"]).set({ job }, ended);
  if (lastSuccess !== null)
    gauge("job_last_success_timestamp_seconds", "When the latest run began that ended with 0, since 1970", ["job"]).set(
      { job },
      lastSuccess.getTime() / 1000,
    );
  gauge("job_exit_status", "Exit status of the latest run", ["job"]).set({ job }, status);
  gauge("job_duration_seconds", "Time that the latest run took", ["job"]).set({ job }, seconds);
  const result = gauge("step_result", "1 for what became of a step in the latest run", ["job", "step", "result"]);
  const duration = gauge("step_duration_seconds", "Time that a step took in the latest run", ["job", "step"]);
  const tries = gauge("step_tries", "Times that a step was tried in the latest run", ["job", "step"]);
  const features = gauge("step_features", "Features of a step by what became of them in the latest run", [
    "job",
    "step",
    "became",
  ]);
  for (const step of steps) {
    const labels = { job, step: step.name };
    result.set({ ...labels, result: step.result }, 1);
    duration.set(labels, step.seconds);
    tries.set(labels, step.tries);
    for (const [became, count] of Object.entries(step.counts)) features.set({ ...labels, became }, count);
  }
  return registry.metrics();
}
