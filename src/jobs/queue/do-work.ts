/** What a hand of a worker does with an order: it finds the step in the job's file, sees that all is as it was, and does it. */

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { asGeoferryError, fault, type GeoferryError } from "../../errors.js";
import { systemReason } from "../../io/source.js";
import { withNetwork } from "../../network.js";
import type { Registry } from "../../plugin/registry.js";
import { knownStateId } from "../../sync/state-folder.js";
import { traced } from "../../tracing/span.js";
import { version } from "../../version.js";
import type { Job, Step, SynchronisationStep } from "../job.js";
import { readJob } from "../read-job.js";
import { isRepeatable, passing } from "../repeatable.js";
import { errorReport } from "../run-report.js";
import type { JobTools } from "../run-step.js";
import { mergedItems } from "../run-step.js";
import { synchroniseStep } from "../synchronise-step.js";
import { convertHere } from "./convert-here.js";
import { doPieces } from "./do-pieces.js";
import type { Begun, Done, Order } from "./hand-messages.js";
import { failureOf, type Handed, type SynchronisationWork, stepDigest, textDigest } from "./handed.js";
import { differenceHere } from "./input-names.js";

/** What a hand works with. */
export interface Workshop {
  readonly registry: Registry;
  /** Threads of one conversion. */
  readonly threads: number;
  /** Bytes from which on the pieces of an input are worked on by several workers. */
  readonly spreadFrom: number;
  readonly stateRoot: string;
  /** @param service where the maps are, where the order says it */
  toolsFor(job: Job, service: Pick<SynchronisationWork, "service" | "insecureHttp"> | null): JobTools;
}

/** Whom a hand asks and tells. */
export interface Superior {
  /** Asks whether outputs may get their names: the job is still this worker's. @throws interrupted */
  commit(begun: Begun): Promise<void>;
  progress(features: number): void;
  notice(sentence: string): void;
}

/** Never throws. */
export function doWork(order: Order, shop: Workshop, superior: Superior, signal: AbortSignal): Promise<Done> {
  const { handed, worker } = order;
  const { takes } = handed.work;
  const attributes = { "geoferry.worker": worker, "geoferry.step": handed.step, "geoferry.takes": takes };
  return traced("work", { attributes, ...(handed.trace && { parent: handed.trace }) }, async (span) => {
    const done = await work(order, shop, superior, signal);
    if (done.kind === "failed") span.fail(done.failure.code, done.failure.message);
    return done;
  });
}

async function work(order: Order, shop: Workshop, superior: Superior, signal: AbortSignal): Promise<Done> {
  const { handed, worker } = order;
  let step: Step | null = null;
  try {
    checkWorker(order, shop);
    if (handed.work.takes === "pieces") {
      await doPieces(handed.work, shop.registry, signal);
      return { kind: "piece" };
    }
    const job = await jobOf(order);
    step = stepOf(job, order, shop);
    return await withNetwork(step.network, () => perform(job, step!, order, shop, superior, signal));
  } catch (error) {
    const told = signal.aborted ? fault("interrupted", {}, error) : asGeoferryError(error);
    const again = step === null ? passing.includes(told.kind) : isRepeatable(step, told.kind);
    const refusal = told.code === "worker-unfit" ? ({ isRefusal: true } as const) : {};
    return { kind: "failed", failure: failureOf(told, worker), again, ...refusal };
  }
}

function perform(job: Job, step: Step, order: Order, shop: Workshop, superior: Superior, signal: AbortSignal) {
  const { work } = order.handed;
  if (work.takes === "synchronisation") return synchroniseHere(order, step, shop.toolsFor(job, work), superior, signal);
  return convertHere(order, step, shop.toolsFor(job, null), shop, superior, signal);
}

const unfit = ({ worker }: Order, reason: string, cause?: unknown): GeoferryError =>
  fault("worker-unfit", { worker, reason }, cause);

/** @throws worker-unfit */
function checkWorker(order: Order, { registry, stateRoot }: Workshop): void {
  const { version: wanted, formats, file, work } = order.handed;
  if (wanted !== version)
    throw unfit(
      order,
      `it is geoferry ${version}, and the run was started by geoferry ${wanted}: install one version everywhere`,
    );
  const known = new Set(registry.all().map(({ id }) => id));
  const missing = formats.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw unfit(order, `it does not know the format ${missing.join(", ")}: start it with the --plugin of the run`);
  try {
    process.chdir(dirname(file));
  } catch (error) {
    throw unfit(order, `${dirname(file)}: ${systemReason(error)}: is the storage shared?`, error);
  }
  if (work.takes !== "synchronisation" || knownStateId(stateRoot) === work.state) return;
  throw unfit(
    order,
    `its folder of states, ${stateRoot}, is not that of the command that started the run: give both the same --state on shared storage, or journals of maps would be missed`,
  );
}

/** The job as this machine reads it: references are resolved in the worker's own environment. @throws worker-unfit */
async function jobOf(order: Order): Promise<Job> {
  const { file, digest } = order.handed;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw unfit(order, `${file}: ${systemReason(error)}: is the storage shared?`, error);
  }
  if (textDigest(text) !== digest)
    throw unfit(order, `${file} is another file here: is the storage shared, or was it changed since the run began?`);
  try {
    return readJob(text, file, process.env);
  } catch (error) {
    throw unfit(order, (error as Error).message, error);
  }
}

/** @throws worker-unfit */
function stepOf({ steps }: Job, order: Order, { registry }: Workshop): Step {
  const { step: name, settings }: Handed = order.handed;
  const step = steps.find((one) => one.name === name);
  if (step && stepDigest(step, registry) === settings) return step;
  throw unfit(
    order,
    `its environment makes another step of "${name}": variables of the job, or GEOFERRY_GRIDS, differ`,
  );
}

async function synchroniseHere(
  order: Order,
  step: Step,
  tools: JobTools,
  superior: Superior,
  signal: AbortSignal,
): Promise<Done> {
  const { handed, worker } = order;
  const work = handed.work as SynchronisationWork;
  const { map, mode } = (step as SynchronisationStep).request;
  const isAppended = mode === "append";
  if (isAppended && order.isCut) throw fault("append-cut", { map });
  const difference = work.sources && differenceHere(work.sources);
  if (difference !== null) throw unfit(order, difference);
  const host = { ...tools.host, signal, now: new Date(handed.now) };
  const onNotice = (sentence: string) => superior.notice(sentence);
  const done = await synchroniseStep(step as SynchronisationStep, { ...tools, host, onNotice });
  const [item] = mergedItems(work.before ? [work.before] : [], [done]);
  const { error } = item!;
  const isStopped = error?.kind === "interrupted";
  // Another worker would append again what this one has.
  if (isStopped && isAppended)
    return { kind: "synchronised", item: { ...item!, error: errorReport(fault("append-cut", { map })) } };
  const again = error !== null && isRepeatable(step, error.kind);
  if (error === null || !(again || isStopped)) return { kind: "synchronised", item: item! };
  return { kind: "failed", failure: { ...error, code: error.code as never, worker, item: item! }, again };
}
