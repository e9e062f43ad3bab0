import { readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { findProcessStart, findSystemStart } from "../../running-process.js";
import { randomDigits, shortHash } from "../short-hash.js";

/**
 * Temporary files and folders contain a mark, `host-pid-start-random`, so that a later run recognizes those of a process
 * that no longer runs. `host` identifies the machine and its process namespace, since a pid of another machine that shares
 * the folder, or of another container, has no meaning here. `start` identifies the start of the process, since pids are
 * used again: in a container that is started again, soon and for the same program.
 */
export const markPattern = "[0-9a-f]{8}-[0-9]+-[0-9a-f]{8}-[0-9a-f]{8}";

/** Files of another host count as abandoned if they were not written to for this long. */
const foreignAbandonedAfterMs = 7 * 24 * 3600 * 1000;

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

const hostMark = shortHash(`${hostname()}\n${processNamespace()}`);

/** Null if the process has ended. */
function findStartMark(pid: number): string | null {
  const start = findProcessStart(pid);
  return start === null ? null : shortHash(`${findSystemStart()}\n${start}`);
}

/** The prefix of all marks of this process. */
export const ownMarkPrefix = `${hostMark}-${process.pid}-${findStartMark(process.pid)}`;

export function newMark(): string {
  return `${ownMarkPrefix}-${randomDigits()}`;
}

/**
 * Whether the process that created the mark no longer runs.
 * @param modifiedMs modification time of the marked file
 * @param deadPrefix mark prefix (`ownMarkPrefix`) of a process on another host that has lost its job
 */
export function isAbandoned(mark: string, modifiedMs: number, deadPrefix?: string): boolean {
  const [host, pid, start] = mark.split("-");
  if (host !== hostMark && `${host}-${pid}-${start}` === deadPrefix) return true;
  if (host !== hostMark) return Date.now() - modifiedMs > foreignAbandonedAfterMs;
  return start !== findStartMark(Number(pid));
}

const removedOnExit = new Set<string>();

function removeAll(): void {
  for (const path of removedOnExit) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The process is exiting; a later run removes the path.
    }
  }
}

/** Removes the path when the process exits. @returns a function that cancels this */
export function removeOnExit(path: string): () => void {
  if (removedOnExit.size === 0 && !process.listeners("exit").includes(removeAll)) process.on("exit", removeAll);
  removedOnExit.add(path);
  return () => removedOnExit.delete(path);
}
