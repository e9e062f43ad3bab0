/** One run of a job at a time: a run that comes second waits, is skipped, or fails where the other one takes too long. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createError, type GeoferryError } from "../../errors.js";
import { FolderLock, formatHolder } from "../../sync/state/folder-lock.js";
import type { Job } from "../job.js";
import { jobFolder } from "./job-state.js";

/** Milliseconds between two looks at the lock. */
const lockPollIntervalMs = 500;

/** Milliseconds of an hour. */
const hour = 3_600_000;

/**
 * @param wait milliseconds to wait for another run to end
 * @param overdueAfter milliseconds after which another run is too long at work
 * @throws job-locked, job-overdue, interrupted, output-failed
 */
export async function lockJob(
  folder: string,
  { name: job }: Job,
  wait: number,
  overdueAfter: number,
  signal: AbortSignal,
): Promise<FolderLock> {
  const until = Date.now() + wait;
  for (;;) {
    try {
      return await FolderLock.acquire(folder, (holder) => createError("job-locked", { job, holder }));
    } catch (error) {
      if ((error as { code?: string }).code !== "job-locked") throw error;
      if (Date.now() >= until) throw runOverdueError(folder, job, overdueAfter) ?? error;
      await pause(Math.min(lockPollIntervalMs, Math.max(0, until - Date.now())), undefined, { signal }).catch(
        (cause: unknown) => {
          throw createError("interrupted", {}, cause);
        },
      );
    }
  }
}

function runOverdueError(folder: string, job: string, overdueAfter: number): GeoferryError | null {
  const holder = FolderLock.readLastHolder(folder);
  if (holder === null || !(Date.now() - Date.parse(holder.since) > overdueAfter)) return null;
  const hours = Math.round((overdueAfter / hour) * 100) / 100;
  return createError("job-overdue", { job, holder: formatHolder(holder), hours });
}

/**
 * Whether no run was skipped before for the run that is at work; remembered in the folder of the job's state.
 * What cannot be remembered is reported again.
 */
export function isFirstSkip(root: string, file: string): boolean {
  try {
    const folder = jobFolder(root, file);
    const path = join(folder, "skipped.json");
    const holder = JSON.stringify(FolderLock.readLastHolder(folder));
    if (readText(path) === holder) return false;
    writeFileSync(path, holder, { mode: 0o600 });
    return true;
  } catch {
    return true;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
