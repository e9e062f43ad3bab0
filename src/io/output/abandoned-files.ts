import { readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { randomDigits, shortHash } from "../short-hash.js";

/**
 * Temporary files and folders carry a mark, `place-pid-random`, so that a later run can tell those of a process that
 * is gone. `place` is the machine and its process namespace: a pid of another machine that shares the folder, or of
 * another container, says nothing here.
 */
export const markPattern = "[0-9a-f]{8}-[0-9]+-[0-9a-f]{8}";

/** A thing of another place is given up once nothing was written to it for this long, in milliseconds. */
const foreignAbandonedAfterMs = 7 * 24 * 3600 * 1000;

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

const hostMark = shortHash(`${hostname()}\n${processNamespace()}`);

/** How the marks of this process begin: by it others know what it left. */
export const ownMarkPrefix = `${hostMark}-${process.pid}`;

export function newMark(): string {
  return `${ownMarkPrefix}-${randomDigits()}`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * Whether the process that made the mark is surely gone. `modifiedMs` is when its file was last written to.
 * @param gone how the marks begin of a process of another machine that has lost what it was at (`ownMarkPrefix`)
 */
export function isAbandoned(mark: string, modifiedMs: number, gone?: string): boolean {
  const [where, pid] = mark.split("-");
  if (where !== hostMark && `${where}-${pid}` === gone) return true;
  if (where !== hostMark) return Date.now() - modifiedMs > foreignAbandonedAfterMs;
  return !isRunning(Number(pid));
}

const removedOnExit = new Set<string>();

function removeAll(): void {
  for (const path of removedOnExit) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The process is ending: the next one sweeps what could not be removed.
    }
  }
}

/** Removes the path when the process exits, unless the function that comes back is called before. */
export function removeOnExit(path: string): () => void {
  if (removedOnExit.size === 0 && !process.listeners("exit").includes(removeAll)) process.on("exit", removeAll);
  removedOnExit.add(path);
  return () => removedOnExit.delete(path);
}
