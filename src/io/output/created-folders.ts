/** Folders that are made for outputs, and removed again where nothing came into them. */
import { mkdirSync, rmdirSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";

/** The folders that this process has made, while an output below them is under way. */
const createdFolders = new Set<string>();
/** By folder: how many outputs are under way in it. */
const outputsInFolder = new Map<string, number>();

const isInUse = (folder: string): boolean =>
  [...outputsInFolder.keys()].some((held) => held === folder || held.startsWith(folder + sep));

/**
 * Makes a folder and those that lead to it, where they are missing.
 * @returns to be called when the output is there or has failed: removes what was made and is empty, unless another output needs it
 * @throws what the system says
 */
export function createFolder(folder: string): () => void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true });
  if (first !== undefined) {
    const top = resolve(first);
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
      // Something is in it: it stays, and those above it do.
      for (let above = dirname(at); createdFolders.has(above); above = dirname(above)) createdFolders.delete(above);
      return;
    }
  }
}
