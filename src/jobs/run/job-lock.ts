/** Allows one run of a job at a time. A second run waits, is skipped, or fails if the first one is overdue. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createError, type GeoferryError } from "../../errors.js";
import { FolderLock, formatHolder } from "../../sync/state/folder-lock.js";
import type { Job } from "../job.js";
import { jobFolder } from "./job-state.js";

const lockPollIntervalMs = 500;

/** Milliseconds of an hour. */
const hour = 3_600_000;

/**
 * @param wait milliseconds to wait for another run to end
 * @param overdueAfter milliseconds after which another run is overdue
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
 * Whether this is the first run that is skipped because of the current lock holder. Stored in the job's state folder;
 * true if that fails.
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
