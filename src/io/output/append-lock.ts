import { closeSync, lstatSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createError } from "../../errors.js";
import { withAbort } from "../with-abort.js";
import { isAbandoned, markPattern, newMark, removeOnExit } from "./abandoned-files.js";
import { appendLockPath, isAppendLock, resolveSymlinks } from "./temporary-names.js";

const wholeMark = new RegExp(`^${markPattern}$`);

/** How long a run waits for one of another process that appends to the same file. */
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

/** The runs of this process that have or await the lock of a path: the end of the last one. */
const queues = new Map<string, Promise<void>>();

/**
 * Waits for the earlier runs of this process, however long they take, in the order of the calls.
 * @returns ends the turn
 */
async function awaitTurn(lock: string, signal: AbortSignal): Promise<() => void> {
  const path = resolve(lock);
  const earlier = queues.get(path);
  let end = (): void => {};
  const ended = new Promise<void>((settle) => {
    end = settle;
  });
  const last = Promise.all([earlier, ended]).then(() => {
    if (queues.get(path) === last) queues.delete(path);
  });
  queues.set(path, last);
  try {
    if (earlier) await withAbort(earlier, signal);
  } catch (error) {
    end();
    throw error;
  }
  return end;
}

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
    private readonly endTurn: () => void,
  ) {}

  /**
   * Waits for runs that append to the file: for those of this process in their order.
   * @returns null if there is nothing to append to, or if the folder cannot be written
   * @throws output-locked if a run of another process still has the lock after a minute
   */
  static async acquire(output: string, signal: AbortSignal): Promise<AppendLock | null> {
    const path = findLockPath(output);
    if (path === null) return null;
    const endTurn = await awaitTurn(path, signal);
    const mark = newMark();
    try {
      if (await createWhenFree(path, mark, output, signal))
        return new AppendLock(output, path, mark, removeOnExit(path), endTurn);
    } catch (error) {
      endTurn();
      throw error;
    }
    endTurn();
    return null;
  }

  /** @throws output-locked if another run has taken the lock, as after a long suspension of this process */
  checkHeld(): void {
    if (readMark(this.path) !== this.mark) throw createError("output-locked", { output: this.output });
  }

  [Symbol.dispose](): void {
    this.keepOnExit();
    try {
      if (readMark(this.path) === this.mark) rmSync(this.path, { force: true });
    } finally {
      this.endTurn();
    }
  }
}

/** Waits until no run appends to the file, before it is replaced. @throws output-locked */
export async function awaitAppends(output: string, signal: AbortSignal): Promise<void> {
  const path = findLockPath(output);
  if (path === null) return;
  for (const end = Date.now() + maxWaitMs; readMark(path) !== null; )
    if (!removeAbandonedLock(path)) await waitForChange(output, end, signal);
}

async function waitForChange(output: string, end: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw createError("interrupted", {}, signal.reason);
  if (Date.now() >= end) throw createError("output-locked", { output });
  await delay(pollIntervalMs);
}

/** @returns false if the folder cannot be written, which writing the output reports. @throws output-locked */
async function createWhenFree(path: string, mark: string, output: string, signal: AbortSignal): Promise<boolean> {
  for (const end = Date.now() + maxWaitMs; ; ) {
    try {
      createLockFile(path, mark);
      return true;
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") return false;
    }
    if (!removeAbandonedLock(path)) await waitForChange(output, end, signal);
  }
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
