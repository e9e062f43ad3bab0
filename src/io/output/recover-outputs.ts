/** Recovery of what killed runs left: their outputs are finished or undone by the next run in the folder. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createError } from "../../errors.js";
import { isAbandoned } from "./abandoned-files.js";
import { removeAbandonedLocks } from "./append-lock.js";
import {
  isSameFile,
  lstatOrNull,
  outputError,
  resolveSymlinks,
  type TemporaryRole,
  temporaryBase,
  temporaryNamePattern,
} from "./temporary-names.js";

interface AbandonedFile {
  readonly path: string;
  readonly finalPath: string;
  readonly role: TemporaryRole;
}

function restoreOriginal({ path, finalPath }: AbandonedFile): void {
  renameSync(path, finalPath);
  // If both names are links to one file, `rename` does nothing.
  rmSync(path, { force: true });
}

/** Finishes or undoes the set of a killed run, so that either the new or the previous files are complete. */
function recoverSet(files: readonly AbandonedFile[]): void {
  const withRole = (role: TemporaryRole) => files.filter((file) => file.role === role);
  const [main] = withRole("main.tmp");
  const oldMain = withRole("main.old");
  const published = main ? isSameFile(main.path, main.finalPath) : [...oldMain, ...withRole("main.none")].length > 0;
  if (main && !published) {
    for (const file of withRole("tmp")) if (isSameFile(file.path, file.finalPath)) rmSync(file.finalPath);
    for (const file of withRole("none")) rmSync(file.finalPath, { force: true });
  }
  // A main file that exists although this run did not publish it was written by another process: it is kept.
  const kept = (final: string) => oldMain.some((file) => isSameFile(file.path, final));
  const restore = main !== undefined && !published && (!lstatOrNull(main.finalPath) || kept(main.finalPath));
  for (const file of [...withRole("old"), ...oldMain]) {
    if (restore) restoreOriginal(file);
    // Without a temporary main file (a link may have put it elsewhere), the only copy of a file is kept.
    else if (main || published || lstatOrNull(file.finalPath)) rmSync(file.path);
  }
  const spent: readonly TemporaryRole[] = ["tmp", "none", "main.none", "main.tmp"];
  for (const role of spent) for (const file of withRole(role)) rmSync(file.path, { force: true });
}

/** The name that a file had before a run moved it aside, shortened if it is long; null for other names. */
function nameBeforeReplacement(entry: string): string | null {
  const { base, role, journal, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
  return base !== undefined && !journal && !note && (role === "old" || role === "main.old") ? base : null;
}

/** Publishing a set takes less than this; files that were moved aside earlier belong to a killed run. */
const publishTimeoutMs = 60_000;

/** Whether another run has just moved the main file aside. */
export function isBeingReplaced(main: string): boolean {
  const name = temporaryBase(basename(main));
  const start = `.${name}.`;
  return readdirSync(dirname(main)).some((entry) => {
    if (!entry.startsWith(start) || nameBeforeReplacement(entry) !== name) return false;
    const aside = lstatOrNull(join(dirname(main), entry));
    return aside !== null && Date.now() - aside.ctimeMs < publishTimeoutMs;
  });
}

const sweptAt = new Map<string, number>();
/** Minimum interval between recoveries of a folder, since many outputs may go into one. */
const sweepIntervalMs = 60_000;

/** Returns an empty text if another run has just removed the file. */
function readTextIfExists(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** The original names of shortened ones, from existing files and from files that store them. */
function originalNames(folder: string, entries: readonly string[]): Map<string, string> {
  const names = new Map(entries.map((entry) => [temporaryBase(entry), entry] as const));
  for (const entry of entries) {
    const { base, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
    if (base === undefined || !note) continue;
    const name = readTextIfExists(join(folder, entry));
    // Ignores a stored name that does not match the shortened one.
    if (basename(name) === name && temporaryBase(name) === base) names.set(base, name);
  }
  return names;
}

/** Recovers the folder of a dataset that a killed run was writing or had moved aside. */
function recoverDatasetFolder(path: string, final: string, role: TemporaryRole): void {
  if (role === "main.old" && !lstatOrNull(final)) renameSync(path, final);
  else if (role === "main.old" || role === "main.tmp") rmSync(path, { recursive: true, force: true });
}

/** Finishes or undoes what killed runs left in the folder, unless that was done recently. */
function recoverAbandonedOutputs(folder: string): void {
  if (Date.now() - (sweptAt.get(resolve(folder)) ?? Number.NEGATIVE_INFINITY) >= sweepIntervalMs) recoverNow(folder);
}

/**
 * Finishes or undoes what killed runs left in the folder.
 * @param deadPrefix see `isAbandoned`
 */
export function recoverNow(folder: string, deadPrefix?: string): void {
  sweptAt.set(resolve(folder), Date.now());
  const groups = new Map<string, AbandonedFile[]>();
  const notes: string[] = [];
  const entries = readdirSync(folder);
  let names: Map<string, string> | undefined;
  for (const entry of entries) {
    const { base, mark, role, journal, note } = temporaryNamePattern.exec(entry)?.groups ?? {};
    if (base === undefined || mark === undefined) continue;
    const path = join(folder, entry);
    const stat = lstatOrNull(path);
    if (stat?.isDirectory() && isAbandoned(mark, stat.mtimeMs, deadPrefix))
      recoverDatasetFolder(path, join(folder, base), role as TemporaryRole);
    if (!stat?.isFile() && !stat?.isSymbolicLink()) continue;
    if (!isAbandoned(mark, stat.mtimeMs, deadPrefix)) continue;
    if (journal) rmSync(path, { force: true });
    else if (note) notes.push(path);
    else {
      names ??= originalNames(folder, entries);
      const finalPath = join(folder, names.get(base) ?? base);
      groups.set(mark, [...(groups.get(mark) ?? []), { path, finalPath, role: role as TemporaryRole }]);
    }
  }
  for (const files of groups.values()) recoverSet(files);
  removeAbandonedLocks(folder, entries);
  for (const path of notes) rmSync(path, { force: true });
}

/**
 * Finishes or undoes what a killed run left of an output, before anything depends on whether the output exists.
 * @param isAppended the output's features must not be missed: the folder is checked even if that was done recently
 * @throws output-failed
 */
export function recoverOutput(output: string, isAppended: boolean): void {
  try {
    for (const folder of new Set([dirname(resolveSymlinks(output)), dirname(output)])) {
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue;
      if (isAppended) recoverNow(folder);
      else recoverAbandonedOutputs(folder);
    }
  } catch (error) {
    throw outputError(output, error);
  }
}

export const wasMovedAside = (entry: string): boolean => nameBeforeReplacement(entry) !== null;

interface MovedFile {
  readonly aside: string;
  readonly name: string;
}

/** Files that are missing because a run has moved them aside to replace them. */
function findMovedFiles(folder: string, isWanted: (name: string) => boolean): MovedFile[] {
  const entries = listIfPossible(folder);
  const present = new Set(entries);
  const names = entries.some(wasMovedAside) ? originalNames(folder, entries) : new Map<string, string>();
  return entries.flatMap((aside) => {
    const base = nameBeforeReplacement(aside);
    if (base === null) return [];
    const name = names.get(base) ?? base;
    return !present.has(name) && isWanted(name) ? [{ aside, name }] : [];
  });
}

/** Without permission to list a folder, its files can still be read by name. */
function listIfPossible(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Publishing takes a fraction of this. */
const replacementWaitMs = 5000;
const pollIntervalMs = 100;

/**
 * Restores inputs that a killed run had moved aside to replace them, and waits for runs that are replacing some: a reader
 * that misses a file would take it for deleted.
 * @param isWanted chooses files by name
 * @throws input-unreadable for a file that is still missing then
 */
export async function awaitReplacedInputs(folder: string, isWanted: (name: string) => boolean): Promise<void> {
  const end = Date.now() + replacementWaitMs;
  for (let moved = findMovedFiles(folder, isWanted); moved.length > 0; moved = findMovedFiles(folder, isWanted)) {
    try {
      recoverNow(folder);
    } catch {
      // A folder that cannot be changed: the error below says what to do.
    }
    const [first] = findMovedFiles(folder, isWanted);
    if (first === undefined) return;
    if (Date.now() >= end) {
      const reason = `another run moved it to ${first.aside} in order to replace it; wait for that run, or if it was killed, convert anything into the folder from the machine of that run, which restores the file`;
      throw createError("input-unreadable", { source: join(folder, first.name), reason });
    }
    await delay(pollIntervalMs);
  }
}

/**
 * As `awaitReplacedInputs`, for one path that may be missing. Opening a path that cannot be looked up reports the reason.
 * @throws input-unreadable
 */
export async function awaitReplacedInput(path: string): Promise<void> {
  const folder = dirname(path);
  try {
    if (lstatOrNull(path) || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  } catch {
    return;
  }
  await awaitReplacedInputs(folder, (name) => name === basename(path));
}
