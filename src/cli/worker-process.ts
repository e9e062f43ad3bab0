/** Entry point of a worker process: runs one job at a time for its worker, and exits when the worker does. */
import "../plug-and-play.js";

import { createError } from "../errors.js";
import { ownMarkPrefix } from "../io/output/abandoned-files.js";
import type { FromWorkerProcess, ToWorkerProcess } from "../jobs/queue/worker/process-messages.js";
import { type ParentChannel, runJob, type WorkerContext } from "../jobs/queue/worker/run-job.js";
import { replaceFlagsByKeys } from "../jobs/report/job-keys.js";
import { setNetworkSettings } from "../network-settings.js";
import { resolveStateRoot } from "../sync/state/state-folder.js";
import { readTraceSettings } from "../tracing/trace-settings.js";
import { openHost } from "./host.js";
import { networkSettings } from "./options/network-options.js";
import { serviceFrom, trafficFrom } from "./options/service-options.js";
import { jobService } from "./run/job-service.js";
import { mapReader } from "./run/map-inputs.js";
import type { WorkerProcessArguments } from "./run/run-worker.js";

const args = JSON.parse(process.argv[2]!) as WorkerProcessArguments;
// A terminal sends the signal to all processes; the worker decides what happens to active jobs.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
// Node would open its debugger.
if (process.platform !== "win32") process.on("SIGUSR1", () => {});
// Without its worker, a process has no lock and must not write.
process.on("disconnect", () => process.exit(1));

setNetworkSettings(networkSettings(args));

const send = (message: FromWorkerProcess): void => {
  process.send?.(message);
};

const traces = readTraceSettings(process.env);
const tracing = traces?.exporter
  ? await (await import("../tracing/open-telemetry.js")).startTracing(traces.exporter, "geoferry", (notice) =>
      send({ kind: "notice", sentence: notice }),
    )
  : null;
// Machines that share a job may have different grids installed, but must produce the same results.
const host = await openHost({ ...args, standardGrids: false });
const root = resolveStateRoot(args.state, process.env);
const context: WorkerContext = {
  registry: host.registry,
  threads: args.threads,
  splitAbove: args.splitAbove,
  stateRoot: root,
  createStepContext(job, service) {
    const all = {
      ...args,
      ...jobService(job, args),
      ...(service && { url: service.service, insecureHttp: args.insecureHttp ?? service.insecureHttp }),
    };
    return {
      host: { ...host, rewriteMessage: replaceFlagsByKeys, readMap: mapReader(all) },
      service: (signal) => serviceFrom(all, signal),
      traffic: trafficFrom(all),
      stateRoot: root,
      dryRun: false,
      onNotice: (sentence) => send({ kind: "notice", sentence }),
    };
  },
};

let aborter = new AbortController();
let resolveCommit: (mayCommit: boolean) => void = () => {};

const parent: ParentChannel = {
  async requestCommit(pendingCommit) {
    const mayCommit = new Promise<boolean>((resolve) => {
      resolveCommit = resolve;
    });
    send({ kind: "commit", pendingCommit });
    if (!(await mayCommit)) {
      aborter.abort();
      throw createError("interrupted", {});
    }
  },
  progress: (features) => send({ kind: "progress", features }),
  notice: (sentence) => send({ kind: "notice", sentence }),
};

process.on("message", (message: ToWorkerProcess) => {
  if (message.kind === "stop") aborter.abort();
  else if (message.kind === "commit-reply") resolveCommit(message.mayCommit);
  else {
    aborter = new AbortController();
    void runJob(message.request, context, parent, aborter.signal).then(async (result) => {
      await tracing?.flush();
      send({ kind: "done", result });
    });
  }
});
send({ kind: "ready", processMark: ownMarkPrefix });
