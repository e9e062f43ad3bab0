/** A process in which a worker does its work: it takes one order at a time from the worker, and ends with it. */
import { fault } from "../errors.js";
import { ownMarks } from "../io/leftovers.js";
import { inJobKeys } from "../jobs/job-words.js";
import { doWork, type Superior, type Workshop } from "../jobs/queue/do-work.js";
import type { FromHand, ToHand } from "../jobs/queue/hand-messages.js";
import { setNetwork } from "../network.js";
import { stateRoot } from "../sync/state-folder.js";
import { tracesAsked } from "../tracing/environment.js";
import { openHost } from "./host.js";
import { jobService } from "./job-service.js";
import { mapReader } from "./map-inputs.js";
import { networkFrom } from "./network-options.js";
import type { HandArguments } from "./run-worker.js";
import { serviceFrom, trafficFrom } from "./service-options.js";

const args = JSON.parse(process.argv[2]!) as HandArguments;
/** In a terminal the signal reaches all processes; what becomes of the work is for the worker to say. */
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
// Without a worker nobody may write.
process.on("disconnect", () => process.exit(1));

setNetwork(networkFrom(args));

const tell = (message: FromHand): void => {
  process.send?.(message);
};

const traces = tracesAsked(process.env);
const tracing = traces?.exporter
  ? await (await import("../tracing/open-telemetry.js")).openTracing(traces.exporter, "geoferry", (notice) =>
      tell({ kind: "notice", sentence: notice }),
    )
  : null;
// Machines that share a job may have other grids installed, and their results must not differ.
const host = await openHost({ ...args, standardGrids: false });
const root = stateRoot(args.state, process.env);
const shop: Workshop = {
  registry: host.registry,
  threads: args.threads,
  spreadFrom: args.spreadFrom,
  stateRoot: root,
  toolsFor(job, wanted) {
    const all = {
      ...args,
      ...jobService(job, args),
      ...(wanted && { url: wanted.service, insecureHttp: args.insecureHttp ?? wanted.insecureHttp }),
    };
    return {
      host: { ...host, words: inJobKeys, readMap: mapReader(all) },
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

const superior: Superior = {
  async commit(begun) {
    const answer = new Promise<boolean>((resolve) => {
      answered = resolve;
    });
    tell({ kind: "commit", begun });
    if (!(await answer)) {
      aborter.abort();
      throw fault("interrupted", {});
    }
  },
  progress: (features) => tell({ kind: "progress", features }),
  notice: (sentence) => tell({ kind: "notice", sentence }),
};

process.on("message", (message: ToHand) => {
  if (message.kind === "stop") aborter.abort();
  else if (message.kind === "answer") answered(message.may);
  else {
    aborter = new AbortController();
    void doWork(message.order, shop, superior, aborter.signal).then(async (done) => {
      await tracing?.flush();
      tell({ kind: "done", done });
    });
  }
});
tell({ kind: "ready", marks: ownMarks });
