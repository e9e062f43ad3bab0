/** A process in which a worker does its work: it takes one order at a time from the worker, and ends with it. */
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
import type { HandArguments } from "./run/run-worker.js";

const args = JSON.parse(process.argv[2]!) as HandArguments;
/** In a terminal the signal reaches all processes; what becomes of the work is for the worker to say. */
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
// Without a worker no one may write.
process.on("disconnect", () => process.exit(1));

setNetworkSettings(networkSettings(args));

const tell = (message: FromWorkerProcess): void => {
  process.send?.(message);
};

const traces = readTraceSettings(process.env);
const tracing = traces?.exporter
  ? await (await import("../tracing/open-telemetry.js")).startTracing(traces.exporter, "geoferry", (notice) =>
      tell({ kind: "notice", sentence: notice }),
    )
  : null;
// Machines that share a job may have other grids installed, and their results must not differ.
const host = await openHost({ ...args, standardGrids: false });
const root = resolveStateRoot(args.state, process.env);
const shop: WorkerContext = {
  registry: host.registry,
  threads: args.threads,
  splitAbove: args.splitAbove,
  stateRoot: root,
  toolsFor(job, wanted) {
    const all = {
      ...args,
      ...jobService(job, args),
      ...(wanted && { url: wanted.service, insecureHttp: args.insecureHttp ?? wanted.insecureHttp }),
    };
    return {
      host: { ...host, rewriteMessage: replaceFlagsByKeys, readMap: mapReader(all) },
      service: (signal) => serviceFrom(all, signal),
      traffic: trafficFrom(all),
      stateRoot: root,
      dryRun: false,
      onNotice: (sentence) => tell({ kind: "notice", sentence }),
    };
  },
};

let aborter = new AbortController();
let answered: (may: boolean) => void = () => {};

const superior: ParentChannel = {
  async requestCommit(pendingCommit) {
    const answer = new Promise<boolean>((resolve) => {
      answered = resolve;
    });
    tell({ kind: "commit", pendingCommit });
    if (!(await answer)) {
      aborter.abort();
      throw createError("interrupted", {});
    }
  },
  progress: (features) => tell({ kind: "progress", features }),
  notice: (sentence) => tell({ kind: "notice", sentence }),
};

process.on("message", (message: ToWorkerProcess) => {
  if (message.kind === "stop") aborter.abort();
  else if (message.kind === "answer") answered(message.mayCommit);
  else {
    aborter = new AbortController();
    void runJob(message.request, shop, superior, aborter.signal).then(async (result) => {
      await tracing?.flush();
      tell({ kind: "done", result });
    });
  }
});
tell({ kind: "ready", processMark: ownMarkPrefix });
