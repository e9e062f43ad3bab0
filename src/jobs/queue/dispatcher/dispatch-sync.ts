/** A step whose map a worker writes to: one job in the map's own queue, of which one at a time is done. */
import { asGeoferryError, createError } from "../../../errors.js";
import { redactInputs } from "../../../io/redact.js";
import { expandInputs } from "../../../pipeline/input/expand-inputs.js";
import type { Host } from "../../../pipeline/request.js";
import type { SyncStep } from "../../job.js";
import type { ItemReport } from "../../report/run-report.js";
import { emptyFindingLists, toErrorReport } from "../../report/run-report.js";
import { statFiles } from "../input-names.js";
import { errorFromFailure, type StarterFileStat } from "../job-payload.js";
import { mapQueueName } from "../queue-names.js";
import { withAbort } from "../with-abort.js";
import type { DistributedRun } from "./distributed-run.js";
import type { JobEntry } from "./job-dispatcher.js";

/** @param sources null for those that are still to be made */
async function entryOf(
  handOut: DistributedRun,
  step: SyncStep,
  sources: readonly StarterFileStat[] | null,
): Promise<JobEntry> {
  const { url: service, insecureHttp } = await handOut.settings.service();
  const { map } = step.request;
  const work = { kind: "synchronisation", service, insecureHttp, state: handOut.stateId, sources } as const;
  return handOut.createEntry(step, mapQueueName(service, map), work, `map:${map}`);
}

/** Hands a step out with the jobs that must be done before it. */
export async function dispatchDependent(
  handOut: DistributedRun,
  rider: SyncStep,
  children: readonly JobEntry[],
): Promise<void> {
  const entry = await entryOf(handOut, rider, null);
  await handOut.dispatcher.addFlow(entry, children);
  handOut.scheduleDependent(rider, entry);
}

/** Never throws but for what stops it before it is handed out. */
export async function dispatchSync(handOut: DistributedRun, step: SyncStep, host: Host): Promise<ItemReport> {
  const { dispatcher } = handOut;
  const { signal } = host;
  const item = {
    source: redactInputs(step.request.source.inputs, host.registry),
    target: `map:${step.request.map}`,
    ...emptyFindingLists,
  };
  const boarded = handOut.takeDependent(step);
  const entry = boarded ?? (await entryOf(handOut, step, await sourcesOf(step, host)));
  try {
    const ended = handOut.dispatch(entry, signal);
    // It may be interrupted while the queue is asked.
    ended.catch(() => {});
    const isThere = boarded !== null && (await withAbort(dispatcher.findResult(entry.queue, entry.id), signal));
    // Where Redis has lost the one that was to ride.
    if (!isThere) dispatcher.add([entry]).catch(() => {});
    const ending = await ended;
    dispatcher.removeJob([entry]);
    if ("answer" in ending) return { ...ending.answer.itemReport!, worker: ending.answer.worker };
    const { failure } = ending;
    const worker = failure.worker === null ? {} : { worker: failure.worker };
    const error = toErrorReport(errorFromFailure(failure));
    return { ...item, result: "failed", counts: {}, ...failure.itemReport, error, ...worker };
  } catch (error) {
    const told = signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);
    return { ...item, result: "failed", counts: {}, error: toErrorReport(told) };
  } finally {
    if (signal.aborted) await handOut.cancelStep(step.name);
  }
}

/** Files among the sources as they are seen here. @throws input-missing */
async function sourcesOf(
  { request: { source } }: SyncStep,
  { registry, signal }: Host,
): Promise<readonly StarterFileStat[]> {
  const expanded = await expandInputs(source.inputs, registry, signal, source.from);
  return statFiles(expanded.map(({ address }) => address));
}
