import { createError } from "../../errors.js";
import type { Command, CommonArguments } from "../command.js";
import { grouped, takes } from "../options/flag.js";
import { type MetricsArguments, metricsOptions } from "../options/metrics-options.js";
import { networkOptions } from "../options/network-options.js";
import { type QueueArguments, queueOptions } from "../options/queue-options.js";
import { insecureHttp, serviceOptions, type TrafficArguments } from "../options/service-options.js";
import { folder } from "../options/source-options.js";
import { numberOf, wholeNumber } from "../parse/values.js";

export interface WorkerArguments
  extends CommonArguments,
    QueueArguments,
    MetricsArguments,
    Omit<TrafficArguments, "concurrency"> {
  readonly concurrency?: string;
  readonly name?: string;
  readonly stalledAfter?: string;
  readonly shutdownTimeout?: string;
  readonly splitAbove?: string;
  readonly profile?: string;
  readonly insecureHttp?: boolean;
  readonly state?: string;
}

/** Seconds. Shorter times would treat busy machines as dead. */
const minStalledAfterSeconds = 2;

export const workerCommand: Command<WorkerArguments> = {
  usage: "worker",
  summary: "Run jobs dispatched by geoferry run --queue on this machine",
  positionals: {},
  options: {
    ...grouped("Queue:", {
      ...queueOptions,
      concurrency: {
        ...takes("N"),
        describe: "Number of files to convert at a time, in addition to one job per map",
        defaultDescription: "number of cores",
      },
      name: {
        ...takes("NAME"),
        describe: "Name of the worker in logs and reports",
        defaultDescription: "host and process",
      },
      "stalled-after": {
        ...takes("SECONDS"),
        describe: "Time without a lock renewal after which other workers take over a job",
        defaultDescription: "8",
      },
      "shutdown-timeout": {
        ...takes("SECONDS"),
        describe: "Time to finish jobs after SIGTERM; unfinished jobs are requeued",
        defaultDescription: "20",
      },
      "split-above": {
        ...takes("MEGABYTES"),
        describe: "Split inputs larger than this among all workers",
        defaultDescription: "64",
      },
    }),
    ...grouped("Monitoring:", metricsOptions),
    ...grouped("Service:", {
      profile: serviceOptions.profile,
      "insecure-http": insecureHttp,
      rate: serviceOptions.rate,
      state: {
        ...folder,
        describe: "Folder for locks, journals and sync state, shared by all machines",
        defaultDescription: "XDG_STATE_HOME/geoferry",
      },
    }),
    ...networkOptions,
  },
  examples: [
    ["worker --queue redis://queue.example.org", "take jobs, as many files at a time as there are cores"],
    ["worker --concurrency 2 --name north --state /srv/state --json", "take the queue from GEOFERRY_QUEUE"],
  ],
  async run(args) {
    const stalledAfter = numberOf("--stalled-after", args.stalledAfter, minStalledAfterSeconds, false) ?? 8;
    const shutdownTimeout = numberOf("--shutdown-timeout", args.shutdownTimeout, 0, false) ?? 20;
    const megabytes = numberOf("--split-above", args.splitAbove, 0, false) ?? 64;
    const concurrency = wholeNumber("--concurrency", args.concurrency, 1);
    if (args.queue === undefined)
      throw createError("usage", {
        reason: "worker needs --queue or GEOFERRY_QUEUE, the address of the queue: redis://HOST:PORT",
      });
    const { runWorker } = await import("../run/run-worker.js");
    return runWorker(args, { stalledAfter, shutdownTimeout, splitAbove: megabytes * 1e6, concurrency });
  },
};
