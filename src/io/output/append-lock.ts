import { closeSync, lstatSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createError } from "../../errors.js";
import { isAbandoned, markPattern, newMark, removeOnExit } from "./abandoned-files.js";
import { appendLockPath, isAppendLock, resolveSymlinks } from "./temporary-names.js";

const wholeMark = new RegExp(`^${markPattern}$`);

/** How long a run waits for another one that appends to the same file. */
const maxWaitMs = 60_000;
const pollIntervalMs = 50;
/** The holder writes its mark immediately after it has created the file. */
const maxEmptyMs = 10_000;

const lockPath = (output: string): string => appendLockPath(resolveSymlinks(output));

/** Null if there is no folder with an output to append to, or if it cannot be looked up, which writing reports. */
function findLockPath(output: string): string | null {
  try {
    const path = lockPath(output);
    return statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() ? path : null;
  } catch {
    return null;
  }
}

const systemErrorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * The right to append to a file, which one run has at a time: each appends to what the run before it has written. The lock
 * is a hidden file beside the output with the mark of its holder; that of a killed run is ignored.
 */
export class AppendLock implements Disposable {
  private constructor(
    private readonly output: string,
    private readonly path: string,
    private readonly mark: string,
    private readonly keepOnExit: () => void,
  ) {}

  /**
   * Waits for runs that append to the file.
   * @returns null if there is nothing to append to, or if the folder cannot be written
   * @throws output-locked if another run still has the lock after a minute
   */
  static async acquire(output: string, signal: AbortSignal): Promise<AppendLock | null> {
    const path = findLockPath(output);
    if (path === null) return null;
    const mark = newMark();
    for (const end = Date.now() + maxWaitMs; ; ) {
      try {
        createLockFile(path, mark);
        return new AppendLock(output, path, mark, removeOnExit(path));
      } catch (error) {
        // Writing the output reports the reason.
        if (systemErrorCode(error) !== "EEXIST") return null;
      }
      if (!removeAbandonedLock(path)) await waitForChange(output, end, signal);
    }
  }

  /** @throws output-locked if another run has taken the lock, as after a long suspension of this process */
  checkHeld(): void {
    if (readMark(this.path) !== this.mark) throw createError("output-locked", { output: this.output });
  }

  [Symbol.dispose](): void {
    this.keepOnExit();
    if (readMark(this.path) === this.mark) rmSync(this.path, { force: true });
  }
}

/** Waits until no run appends to the file, before it is replaced. @throws output-locked */
export async function awaitAppends(output: string, signal: AbortSignal): Promise<void> {
  const path = lockPath(output);
  for (const end = Date.now() + maxWaitMs; readMark(path) !== null; )
    if (!removeAbandonedLock(path)) await waitForChange(output, end, signal);
}

async function waitForChange(output: string, end: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (Date.now() >= end) throw createError("output-locked", { output });
  await delay(pollIntervalMs);
}

/** @throws EEXIST and other errors of the file system */
function createLockFile(path: string, mark: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, mark);
  } finally {
    closeSync(file);
  }
}

/** The mark in a lock file, empty if it is not yet written; null if there is no such file. */
function readMark(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function isHeld(mark: string, modifiedMs: number): boolean {
  if (wholeMark.test(mark)) return !isAbandoned(mark, modifiedMs);
  return Date.now() - modifiedMs < maxEmptyMs;
}

/** Removes the lock of a killed run. @returns whether the lock is free now */
function removeAbandonedLock(path: string): boolean {
  const mark = readMark(path);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (mark === null || !stat) return true;
  if (isHeld(mark, stat.mtimeMs)) return false;
  // Renamed first: another process may have removed this lock and taken the next one since it was read.
  const aside = `${path}.${newMark()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return true;
    throw error;
  }
  if (readMark(aside) === mark) rmSync(aside, { force: true });
  else renameSync(aside, path);
  return true;
}

/** Removes the locks of killed runs among the entries of a folder. */
export function removeAbandonedLocks(folder: string, entries: readonly string[]): void {
  for (const entry of entries) if (isAppendLock(entry)) removeAbandonedLock(join(folder, entry));
}
