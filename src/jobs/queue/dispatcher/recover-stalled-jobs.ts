/** Recovers the queue jobs of an earlier run of the same job that ended without removing them. */
import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../../../errors.js";
import type { Job } from "../../job.js";
import type { OutputRecord } from "../../run/job-state.js";
import type { ConversionRecord } from "../../steps/conversion-record.js";
import { addDigests } from "../../steps/convert-step.js";
import { chunkFolder, removeChunks } from "../chunk-files.js";
import { noop } from "../connection.js";
import { isPayload } from "../find-damage.js";
import type { ConversionWork, SourceDigests } from "../job-payload.js";
import { isMapQueue, isReadable, mapQueueName, queueSubject, workQueueName } from "../queue-names.js";
import type { DistributedRun } from "./distributed-run.js";
import type { DispatchedJob, RemovalHooks } from "./job-dispatcher.js";

const states = ["wait", "prioritized", "delayed", "waiting-children", "active", "completed", "failed"] as const;

const pollIntervalMs = 300;

/**
 * Removes waiting jobs, cancels active ones, and records the outputs of finished ones as written by the job.
 * @throws interrupted, queue-not-accepting
 */
export async function recoverStalledJobs(distributedRun: DistributedRun): Promise<void> {
  const { dispatcher, options } = distributedRun;
  const { signal } = options.host;
  let isReported = false;
  for (const name of await queuesOf(distributedRun)) {
    const { queue } = await dispatcher.open(name);
    for (;;) {
      const ids = (await queue.getRanges([...states], 0, -1)).filter((id) =>
        id.startsWith(`${distributedRun.jobKey}.`),
      );
      if (ids.length === 0) break;
      if (!isReported) options.onNotice("an earlier run of this job left jobs in the queue; removing them");
      isReported = true;
      const jobs = (await Promise.all(ids.map((id) => dispatcher.readJob(name, id)))).filter(
        (job) => job !== undefined,
      );
      const runs = new Set(jobs.filter(hasPayload).map(({ data }) => data.runId));
      for (const runId of runs) await dispatcher.publishCancellation({ runId, step: null });
      // A live worker releases a cancelled job; its outcome is final when no worker holds it. Ids without a job, which
      // Redis has evicted, are removed as well.
      for (const id of ids)
        await dispatcher.removeUnlessActive(
          { queue: name, id },
          isReadable(name) ? outputHooks(distributedRun) : noHooks,
        );
      if (signal.aborted) throw createError("interrupted", {});
      await pause(pollIntervalMs);
    }
  }
}

/**
 * The queues of files and of the job's maps, of all versions: the earlier run may have had another version. Maps are
 * first: once the files that a map waits for are removed, a worker would start it.
 */
async function queuesOf({ options: { job }, settings, dispatcher }: DistributedRun): Promise<string[]> {
  const maps = job.steps.flatMap((step) => (step.kind === "sync" ? [step.request.map] : []));
  const url = maps.length === 0 ? "" : (await settings.service()).url;
  const own = [...new Set(maps.map((map) => mapQueueName(url, map))), workQueueName];
  const subjects = new Set(own.map(queueSubject));
  const others = (await dispatcher.registeredQueues()).filter(
    (name) => !own.includes(name) && subjects.has(queueSubject(name)),
  );
  const isMap = (name: string) => Number(isMapQueue(name));
  return [...others, ...own].sort((a, b) => isMap(b) - isMap(a));
}

/** Redis may have evicted the payload, unless its maxmemory-policy is noeviction, and other programs may change it. */
const hasPayload = ({ data }: DispatchedJob): boolean => isPayload(data);

const noHooks: RemovalHooks = { beforeRemove: noop, onRemoved: noop };

/** Records the outputs of queue jobs that no run waits for, so that the next run recognizes them as its own. */
export const outputHooks = ({ options: { job, state } }: DistributedRun): RemovalHooks => ({
  beforeRemove(queueJob) {
    const found = findOutput(job, queueJob);
    if (found === null) return;
    const { step, output, work } = found;
    removeChunks(chunkFolder(output, queueJob.id!));
    const dispatched = state.readDispatched(step, output);
    if (!dispatched) return;
    const recordOf = ({ files, findings, digests }: ConversionRecord & SourceDigests): OutputRecord => {
      const { settings, sources } = dispatched;
      return { settings, sources: addDigests(sources, digests), files, findings };
    };
    const { converted } = queueJob.returnvalue ?? {};
    if (converted) state.saveOutput(step, output, recordOf(converted));
    else if (work.pendingCommit)
      state.savePendingCommit(step, output, recordOf({ ...work.pendingCommit.done, files: work.pendingCommit.files }));
  },
  onRemoved(queueJob) {
    const found = findOutput(job, queueJob);
    if (found !== null && !queueJob.returnvalue && !found.work.pendingCommit)
      state.deleteDispatched(found.step, found.output);
  },
});

/** The output of a conversion; null for other work, or if the job file no longer has its step. */
function findOutput(
  { steps }: Job,
  queueJob: DispatchedJob,
): { readonly step: string; readonly output: string; readonly work: ConversionWork } | null {
  if (!hasPayload(queueJob)) return null;
  const { work, step } = queueJob.data;
  if (work.kind !== "conversion") return null;
  const found = steps.find(({ name }) => name === step);
  const output = work.output ?? (found?.kind === "conversion" ? found.request.output : null);
  return output === null ? null : { step, output, work };
}
