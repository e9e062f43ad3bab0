import type { Command, CommonArguments } from "../command.js";
import { grouped, takes } from "../options/flag.js";
import { type MetricsArguments, metricsOptions } from "../options/metrics-options.js";
import { type QueueArguments, queueOptions } from "../options/queue-options.js";
import type { ServiceArguments } from "../options/service-options.js";
import { file, flag, several } from "../options/source-options.js";
import { onMap } from "../options/sync-options.js";

export interface JobArguments extends ServiceArguments, CommonArguments, QueueArguments, MetricsArguments {
  readonly job: string;
  readonly only?: readonly string[];
  readonly dryRun?: boolean;
  readonly wait?: string;
  readonly overdueAfter?: string;
  readonly report?: string;
  readonly page?: string;
  readonly metrics?: string;
  readonly onFailure?: string;
  readonly state?: string;
  readonly priority?: string;
}

export const runCommand: Command<JobArguments> = {
  usage: "run <job>",
  summary: "Run a job file step by step: convert changed inputs, and sync maps with their sources",
  positionals: { job: { type: "string", describe: "JOB.yaml", demandOption: true, isPath: true } },
  options: onMap(
    grouped("Run:", {
      only: { ...several, placeholder: "STEP", describe: "Run only these steps: a,b" },
      "dry-run": { ...flag, describe: "Show what would be done without doing it" },
      wait: {
        ...takes("SECONDS"),
        describe: "Time to wait for another run of the job to end",
        defaultDescription: "0",
      },
      "overdue-after": {
        ...takes("SECONDS"),
        describe: "Fail, instead of skipping, if another run of the job is still running after this time",
        defaultDescription: "overdueAfter of the job, or 86400",
      },
      report: { ...file, describe: "Write the report of the run as JSON; replaces an existing file" },
      page: { ...file, describe: "Write a web page of this and earlier runs; replaces an existing file" },
      metrics: {
        ...file,
        describe: "Write metrics for the textfile collector of the Prometheus node exporter; replaces an existing file",
      },
      ...metricsOptions,
      "on-failure": { ...takes("COMMAND"), describe: "Shell command to run when the job fails" },
      ...queueOptions,
      priority: {
        ...takes("N"),
        describe: "Priority of the run in the queue; lower numbers go first",
        defaultDescription: "10",
      },
    }),
  ),
  examples: [
    ["run nightly.yaml", "run all steps"],
    ["run nightly.yaml --dry-run", "check the file, and show what would be done"],
    ["run nightly.yaml --queue redis://queue.example.org", "distribute the steps among geoferry workers"],
    ["run nightly.yaml --only places --page runs.html", "run one step, and write a page about all runs"],
  ],
  async run(args) {
    const { runJobFile } = await import("../run/run-job-file.js");
    return runJobFile(args);
  },
};
