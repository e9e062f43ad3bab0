/** `geoferry worker`: starts a worker with its process pool, log and metrics. */
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { availableParallelism, hostname } from "node:os";
import { resolve } from "node:path";
import { QueueWorker, type WorkerEvent } from "../../jobs/queue/worker/queue-worker.js";
import { WorkerMetrics } from "../../jobs/queue/worker/worker-metrics.js";
import { WorkerPool } from "../../jobs/queue/worker/worker-pool.js";
import { omitUndefined } from "../../pipeline/request.js";
import { isPath } from "../../plugin/resolve-module.js";
import { resolveStateRoot } from "../../sync/state/state-folder.js";
import type { CommonArguments } from "../command.js";
import type { WorkerArguments } from "../commands/worker.js";
import { openRegistry } from "../host.js";
import { type MetricsPlace, metricsPlace } from "../options/metrics-options.js";
import { queueSettings } from "../options/queue-options.js";
import { type ServiceArguments, trafficFrom } from "../options/service-options.js";
import type { MetricsEndpoint } from "../output/metrics-endpoint.js";
import { interrupted } from "../signals.js";

/** Arguments of a worker process, passed on its command line; no secrets. */
export interface WorkerProcessArguments extends Omit<ServiceArguments, "concurrency"> {
  readonly state: string;
  readonly threads: number;
  readonly splitAbove: number;
}

/** Numeric options, with their defaults. */
export interface WorkerNumbers {
  /** Seconds. */
  readonly stalledAfter: number;
  readonly shutdownTimeout: number;
  /** Bytes. */
  readonly splitAbove: number;
  readonly concurrency: number | undefined;
}

const workerProcessPath = createRequire(import.meta.url).resolve("#worker-process");

/** Runs until SIGINT or SIGTERM. @returns the exit status */
export async function runWorker(args: WorkerArguments, numbers: WorkerNumbers): Promise<number> {
  const { address, prefix } = queueSettings(args)!;
  const { concurrency: _, ...traffic } = args;
  trafficFrom(traffic);
  // Loads the plugins once to report errors before the first job.
  const plugins = (args.plugin ?? []).map((plugin) => (isPath(plugin) ? resolve(plugin) : plugin));
  await openRegistry(plugins);
  const concurrency = numbers.concurrency ?? availableParallelism();
  const name = args.name ?? `${hostname()}-${process.pid}`;
  const { connectTimeout, timeout, minimumRate, retries, rate, profile, insecureHttp } = args;
  const processArguments = omitUndefined<WorkerProcessArguments>({
    ...{ connectTimeout, timeout, minimumRate, retries, rate, profile, insecureHttp },
    plugin: plugins,
    state: resolveStateRoot(args.state, process.env),
    threads: Math.max(1, Math.floor(availableParallelism() / concurrency)),
    splitAbove: numbers.splitAbove,
  });
  const processes = new WorkerPool(
    () => fork(workerProcessPath, [JSON.stringify(processArguments)], { stdio: ["ignore", 2, "inherit", "ipc"] }),
    concurrency,
  );
  const settings = { address, prefix, name, concurrency, stalledAfter: numbers.stalledAfter * 1000 };
  const log = (record: object, text: string) => writeLog(args, record, text);
  const place = metricsPlace(args);
  const metrics = new WorkerMetrics();
  await using endpoint = place && (await openEndpoint(place, metrics));
  if (endpoint) log({ type: "metrics", worker: name, url: endpoint.url }, `${name}: metrics at ${endpoint.url}`);
  const worker = await QueueWorker.open(
    settings,
    processes,
    (event) => {
      metrics.record(event);
      log({ worker: name, ...event }, describe(event, address.displayUrl));
    },
    (notice) => log({ type: "notice", worker: name, notice }, notice),
  );
  log(
    { type: "ready", worker: name, queue: address.displayUrl, prefix, concurrency },
    `${name}: taking jobs from ${address.displayUrl}, ${concurrency} at a time`,
  );
  if (!interrupted.aborted) await new Promise((done) => interrupted.addEventListener("abort", done, { once: true }));
  log({ type: "stopping", worker: name }, `${name}: shutting down; finishing active jobs`);
  await worker.close(numbers.shutdownTimeout * 1000);
  log({ type: "stopped", worker: name }, `${name}: stopped`);
  return 0;
}

async function openEndpoint(place: MetricsPlace, { registry }: WorkerMetrics): Promise<MetricsEndpoint> {
  const { MetricsEndpoint } = await import("../output/metrics-endpoint.js");
  return MetricsEndpoint.open(place, registry);
}

/** Writes a line to stderr, or a record to stdout with `--json`. */
function writeLog(args: CommonArguments, record: object, text: string): void {
  const time = new Date().toISOString();
  if (args.json) process.stdout.write(`${JSON.stringify({ time, ...record })}\n`);
  else if (!args.quiet) process.stderr.write(`${time} ${text}\n`);
}

function describe(event: WorkerEvent, queue: string): string {
  switch (event.type) {
    case "started":
      return `started ${event.what}`;
    case "done":
      return `finished ${event.what} in ${event.seconds} s`;
    case "requeued":
      return `requeued ${event.what}`;
    case "split":
      return `split ${event.what} into chunks`;
    case "failed":
      return `failed ${event.what}: ${event.message}`;
    case "refused":
      return `refused ${event.what}, leaving it to other workers: ${event.message}`;
    case "stalled":
      return `job ${event.job} stalled: its worker stopped responding; another worker takes over`;
    case "disconnected":
      return `lost the connection to ${queue}; reconnecting`;
    case "reconnected":
      return `reconnected to ${queue}`;
    case "health":
      return `${event.active} active jobs, ${event.done} done, ${event.failed} failed; connection ${event.redis}`;
  }
}
