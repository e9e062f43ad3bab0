/** What a run finds that an earlier one of the same job, which died, had handed out. */
import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../../../errors.js";
import { addDigests } from "../../steps/convert-step.js";
import { chunkFolder, removeChunks } from "../chunk-files.js";
import { isReadable, mapQueueName, queueSubject, workQueueName } from "../queue-names.js";
import type { DistributedRun } from "./distributed-run.js";
import type { DispatchedJob } from "./job-dispatcher.js";

const states = ["wait", "prioritized", "delayed", "waiting-children", "active", "completed", "failed"] as const;

/** Milliseconds between two looks at what workers are still at. */
const pollIntervalMs = 300;

/**
 * What waits is taken back, what is under way is stopped, and what was done is kept: those outputs are the job's own.
 * @throws interrupted
 */
export async function recoverStalledJobs(handOut: DistributedRun): Promise<void> {
  const { dispatcher, options } = handOut;
  const { signal } = options.host;
  let isTold = false;
  for (const name of await queuesOf(handOut)) {
    const { queue } = await dispatcher.open(name);
    for (;;) {
      const ids = (await queue.getRanges([...states], 0, -1)).filter((id) => id.startsWith(`${handOut.jobKey}.`));
      if (ids.length === 0) break;
      if (!isTold) options.onNotice("an earlier run of the job has left jobs in the queue: they are taken back");
      isTold = true;
      const jobs = (await Promise.all(ids.map((id) => queue.getJob(id)))).filter((job) => job !== undefined);
      const runs = new Set(jobs.map(({ data }) => data.runId));
      for (const runId of runs) await dispatcher.stop({ runId, step: null });
      // A worker that lives lets go of it; what has become of the job meanwhile is seen when no one holds it.
      for (const { id } of jobs)
        await dispatcher.removeWaiting({ queue: name, id: id! }, (job) => {
          if (isReadable(name)) keepFinished(handOut, job);
        });
      if (signal.aborted) throw createError("interrupted", {});
      await pause(pollIntervalMs);
    }
  }
}

/** Of files, and of the maps that the job has now; those of other versions, too, since the earlier run may have been of one. */
async function queuesOf({ options: { job }, settings, dispatcher }: DistributedRun): Promise<string[]> {
  const maps = job.steps.flatMap((step) => (step.kind === "synchronisation" ? [step.request.map] : []));
  const url = maps.length === 0 ? "" : (await settings.service()).url;
  const own = [...new Set(maps.map((map) => mapQueueName(url, map))), workQueueName];
  const subjects = new Set(own.map(queueSubject));
  const others = (await dispatcher.announcedMaps()).filter(
    (name) => !own.includes(name) && subjects.has(queueSubject(name)),
  );
  return [...others, ...own];
}

/** What workers have made of a job that no one waits for any more belongs to the run's job all the same. */
export function keepFinished({ options }: DistributedRun, job: DispatchedJob): void {
  const { work, step } = job.data;
  if (work.kind === "conversion") {
    const found = options.job.steps.find(({ name }) => name === step);
    const output = work.output ?? (found?.kind === "conversion" ? found.request.output : null);
    if (output !== null) removeChunks(chunkFolder(output, job.id!));
    const done =
      job.returnvalue?.converted ??
      (work.pendingCommit && { ...work.pendingCommit.done, files: work.pendingCommit.files });
    const handed = output === null ? null : options.state.readDispatched(step, output);
    if (done && handed && output !== null) {
      const sources = addDigests(handed.sources, done.digests);
      options.state.savePendingCommit(step, output, {
        settings: handed.settings,
        sources,
        files: done.files,
        findings: done.findings,
      });
    }
  }
}
