/** Recovers the queue jobs of an earlier run of the same job that ended without removing them. */
import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../../../errors.js";
import { addDigests } from "../../steps/convert-step.js";
import { chunkFolder, removeChunks } from "../chunk-files.js";
import { isPayload } from "../find-damage.js";
import { isMapQueue, isReadable, mapQueueName, queueSubject, workQueueName } from "../queue-names.js";
import type { DistributedRun } from "./distributed-run.js";
import type { DispatchedJob } from "./job-dispatcher.js";

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
        await dispatcher.removeUnlessActive({ queue: name, id }, (job) => {
          if (isReadable(name)) saveFinishedOutput(distributedRun, job);
        });
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

/** Records the output of a queue job that no run waits for, so that the next run may replace it. */
export function saveFinishedOutput({ options }: DistributedRun, job: DispatchedJob): void {
  if (!hasPayload(job)) return;
  const { work, step } = job.data;
  if (work.kind === "conversion") {
    const found = options.job.steps.find(({ name }) => name === step);
    const output = work.output ?? (found?.kind === "conversion" ? found.request.output : null);
    if (output !== null) removeChunks(chunkFolder(output, job.id!));
    const done =
      job.returnvalue?.converted ??
      (work.pendingCommit && { ...work.pendingCommit.done, files: work.pendingCommit.files });
    const dispatched = output === null ? null : options.state.readDispatched(step, output);
    if (done && dispatched && output !== null) {
      const sources = addDigests(dispatched.sources, done.digests);
      options.state.savePendingCommit(step, output, {
        settings: dispatched.settings,
        sources,
        files: done.files,
        findings: done.findings,
      });
    }
  }
}
