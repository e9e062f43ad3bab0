/** Creates folders for outputs, and removes them again if nothing is written there. */
import { rmdirSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { makeFolders } from "../../make-folders.js";

/** Folders that this process has created, while an output below them is being written. */
const createdFolders = new Set<string>();
/** Number of outputs that are being written, by folder. */
const outputsInFolder = new Map<string, number>();

const isInUse = (folder: string): boolean =>
  [...outputsInFolder.keys()].some((held) => held === folder || held.startsWith(folder + sep));

/**
 * Creates a folder and its missing parents.
 * @returns a function to call when the output is complete or has failed; removes created folders that are empty, unless
 * another output needs them
 * @throws system errors
 */
export function createFolder(folder: string): () => void {
  const path = resolve(folder);
  const top = makeFolders(path);
  if (top !== null) {
    for (let at = path; at.length >= top.length; at = dirname(at)) createdFolders.add(at);
  }
  outputsInFolder.set(path, (outputsInFolder.get(path) ?? 0) + 1);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    releaseFolder(path);
  };
}

function releaseFolder(path: string): void {
  const left = outputsInFolder.get(path)! - 1;
  if (left > 0) outputsInFolder.set(path, left);
  else outputsInFolder.delete(path);
  for (let at = path; createdFolders.has(at) && !isInUse(at); at = dirname(at)) {
    createdFolders.delete(at);
    try {
      rmdirSync(at);
    } catch {
      // A folder that is not empty is kept, and so are its parents.
      for (let above = dirname(at); createdFolders.has(above); above = dirname(above)) createdFolders.delete(above);
      return;
    }
  }
}
