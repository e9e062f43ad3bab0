/** `geoferry worker`: a worker, its hands, and what it tells of itself. */
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

/** What a hand is told when it begins; no secrets. */
export interface HandArguments extends Omit<ServiceArguments, "concurrency"> {
  readonly state: string;
  readonly threads: number;
  readonly splitAbove: number;
}

/** Numbers that flags say, with what is usual. */
export interface WorkerNumbers {
  /** Seconds. */
  readonly stalledAfter: number;
  readonly shutdownTimeout: number;
  /** Bytes. */
  readonly splitAbove: number;
  readonly concurrency: number | undefined;
}

const workerProcessPath = createRequire(import.meta.url).resolve("#worker-process");

/** @returns the exit status, when it was told to stop */
export async function runWorker(args: WorkerArguments, numbers: WorkerNumbers): Promise<number> {
  const { address, prefix } = queueSettings(args)!;
  const { concurrency: _, ...traffic } = args;
  trafficFrom(traffic);
  // What is wrong with a plugin is told before the first job.
  const plugins = (args.plugin ?? []).map((plugin) => (isPath(plugin) ? resolve(plugin) : plugin));
  await openRegistry(plugins);
  const concurrency = numbers.concurrency ?? availableParallelism();
  const name = args.name ?? `${hostname()}-${process.pid}`;
  const { connectTimeout, timeout, minimumRate, retries, rate, profile, insecureHttp } = args;
  const told = omitUndefined<HandArguments>({
    ...{ connectTimeout, timeout, minimumRate, retries, rate, profile, insecureHttp },
    plugin: plugins,
    state: resolveStateRoot(args.state, process.env),
    threads: Math.max(1, Math.floor(availableParallelism() / concurrency)),
    splitAbove: numbers.splitAbove,
  });
  const hands = new WorkerPool(
    () => fork(workerProcessPath, [JSON.stringify(told)], { stdio: ["ignore", 2, "inherit", "ipc"] }),
    concurrency,
  );
  const settings = { address, prefix, name, concurrency, stalledAfter: numbers.stalledAfter * 1000 };
  const log = (record: object, text: string) => tell(args, record, text);
  const place = metricsPlace(args);
  const metrics = new WorkerMetrics();
  await using endpoint = place && (await openEndpoint(place, metrics));
  if (endpoint) log({ type: "metrics", worker: name, url: endpoint.url }, `${name}: metrics at ${endpoint.url}`);
  const worker = await QueueWorker.open(
    settings,
    hands,
    (news) => {
      metrics.record(news);
      log({ worker: name, ...news }, describe(news, address.displayUrl));
    },
    (notice) => log({ type: "notice", worker: name, notice }, notice),
  );
  log(
    { type: "ready", worker: name, queue: address.displayUrl, prefix, concurrency },
    `${name}: takes jobs from ${address.displayUrl}, ${concurrency} at a time`,
  );
  if (!interrupted.aborted) await new Promise((done) => interrupted.addEventListener("abort", done, { once: true }));
  log({ type: "stopping", worker: name }, `${name}: takes no more jobs, and finishes those under way`);
  await worker.close(numbers.shutdownTimeout * 1000);
  log({ type: "stopped", worker: name }, `${name}: stopped`);
  return 0;
}

async function openEndpoint(place: MetricsPlace, { registry }: WorkerMetrics): Promise<MetricsEndpoint> {
  const { MetricsEndpoint } = await import("../output/metrics-endpoint.js");
  return MetricsEndpoint.open(place, registry);
}

/** A line for people, or a record with `--json`. */
function tell(args: CommonArguments, record: object, text: string): void {
  const time = new Date().toISOString();
  if (args.json) process.stdout.write(`${JSON.stringify({ time, ...record })}\n`);
  else if (!args.quiet) process.stderr.write(`${time} ${text}\n`);
}

function describe(news: WorkerEvent, queue: string): string {
  switch (news.type) {
    case "took":
      return `took ${news.what}`;
    case "done":
      return `did ${news.what} in ${news.seconds} s`;
    case "returned":
      return `handed back ${news.what}`;
    case "spread":
      return `handed out the pieces of ${news.what}`;
    case "failed":
      return `could not do ${news.what}: ${news.message}`;
    case "refused":
      return `leaves ${news.what} to others: ${news.message}`;
    case "stalled":
      return `job ${news.job} is taken over: its worker does not answer any more`;
    case "away":
      return `${queue} does not answer; waiting for it`;
    case "back":
      return `${queue} answers again`;
    case "health":
      return `at ${news.active} jobs; ${news.done} done and ${news.failed} failed so far; connection ${news.redis}`;
  }
}
