/** Creates folders with their missing parents. */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Other processes may remove a parent again while this one creates the folders below it. */
const maxAttempts = 3;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The missing folders on the way to a path, topmost first. */
function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !isFolder(at); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  return missing;
}

/** @throws system errors, except for a folder that another process has created meanwhile */
function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(path)) throw error;
  }
}

/**
 * Creates a folder and its missing parents. The recursive `mkdir` of Node.js never returns for a file system that reports
 * ENOENT although the parent exists, as `/proc` does.
 * @param mode permissions of the created folders, before the umask
 * @returns the topmost folder that was missing; null if the folder exists
 * @throws system errors
 */
export function makeFolders(path: string, mode = 0o777): string | null {
  for (let attempt = 1; ; attempt++) {
    const missing = missingFolders(path);
    try {
      for (const folder of missing) makeFolder(folder, mode);
      return missing[0] ?? null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === maxAttempts) throw error;
    }
  }
}
