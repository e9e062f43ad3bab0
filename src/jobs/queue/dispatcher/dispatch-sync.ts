/** Dispatches a sync step as one job in the queue of its map, which runs one job at a time. */
import { asGeoferryError, createError } from "../../../errors.js";
import { redactInputs } from "../../../io/redact.js";
import { withAbort } from "../../../io/with-abort.js";
import { expandInputs } from "../../../pipeline/input/expand-inputs.js";
import type { Host } from "../../../pipeline/request.js";
import type { SyncStep } from "../../job.js";
import type { ItemReport } from "../../report/run-report.js";
import { emptyFindingLists, toErrorReport } from "../../report/run-report.js";
import { isRepeatable } from "../../steps/repeatable.js";
import { statFiles } from "../input-names.js";
import { errorFromFailure, type SourceFileStat } from "../job-payload.js";
import { mapQueueName } from "../queue-names.js";
import type { DistributedRun } from "./distributed-run.js";
import type { JobEntry } from "./job-dispatcher.js";

/** @param sources null for files that an earlier step has yet to write */
async function createSyncEntry(
  distributedRun: DistributedRun,
  step: SyncStep,
  sources: readonly SourceFileStat[] | null,
): Promise<JobEntry> {
  const { url: service, insecureHttp } = await distributedRun.settings.service();
  const { map } = step.request;
  const work = { kind: "sync", service, insecureHttp, state: distributedRun.stateId, sources } as const;
  const entry = distributedRun.createEntry(step, mapQueueName(service, map), work, `map:${map}`);
  return isRepeatable(step, "unknown-outcome")
    ? entry
    : { ...entry, lossError: createError("append-interrupted", { map }) };
}

/** Enqueues a step together with the jobs that must finish before it. */
export async function dispatchDependent(
  distributedRun: DistributedRun,
  dependent: SyncStep,
  children: readonly JobEntry[],
): Promise<void> {
  const entry = await createSyncEntry(distributedRun, dependent, null);
  await distributedRun.dispatcher.addFlow(entry, children);
  distributedRun.scheduleDependent(dependent, entry);
}

/** Returns failures in the report; throws only what fails before the job is enqueued. */
export async function dispatchSync(distributedRun: DistributedRun, step: SyncStep, host: Host): Promise<ItemReport> {
  const { dispatcher } = distributedRun;
  const { signal } = host;
  const item = {
    source: redactInputs(step.request.source.inputs, host.registry),
    target: `map:${step.request.map}`,
    ...emptyFindingLists,
  };
  const scheduled = distributedRun.takeDependent(step);
  const entry = scheduled ?? (await createSyncEntry(distributedRun, step, await statSourceFiles(step, host)));
  try {
    const ended = distributedRun.waitFor(entry, signal);
    // Avoids an unhandled rejection if the run is interrupted during `checkJob`.
    ended.catch(() => {});
    const exists = scheduled !== null && (await withAbort(dispatcher.checkJob(entry.queue, entry.id), signal));
    // Redis may have lost the job that was enqueued with the earlier step.
    if (!exists) dispatcher.add([entry]).catch(() => {});
    const outcome = await ended;
    dispatcher.removeJobs([entry]);
    if ("returnValue" in outcome) return { ...outcome.returnValue.itemReport!, worker: outcome.returnValue.worker };
    const { failure } = outcome;
    const worker = failure.worker === null ? {} : { worker: failure.worker };
    const error = toErrorReport(errorFromFailure(failure));
    return { ...item, result: "failed", counts: {}, ...failure.itemReport, error, ...worker };
  } catch (error) {
    const failure = signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);
    return { ...item, result: "failed", counts: {}, error: toErrorReport(failure) };
  } finally {
    if (signal.aborted) await distributedRun.cancelStep(step.name);
  }
}

/** The files among the sources. @throws input-missing */
async function statSourceFiles(
  { request: { source } }: SyncStep,
  { registry, signal, onLeftOut }: Host,
): Promise<readonly SourceFileStat[]> {
  const expanded = await expandInputs(source.inputs, registry, signal, source.from, onLeftOut);
  return statFiles(expanded.map(({ address }) => address));
}
