/** Folders that are made for outputs, and removed again where nothing came into them. */
import { mkdirSync, rmdirSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";

/** The folders that this process has made, while an output below them is under way. */
const made = new Set<string>();
/** By folder: how many outputs are under way in it. */
const holders = new Map<string, number>();

const isHeld = (folder: string): boolean =>
  [...holders.keys()].some((held) => held === folder || held.startsWith(folder + sep));

/**
 * Makes a folder and those that lead to it, where they are missing.
 * @returns to be called when the output is there or has failed: removes what was made and is empty, unless another output needs it
 * @throws what the system says
 */
export function holdFolder(folder: string): () => void {
  const path = resolve(folder);
  const first = mkdirSync(path, { recursive: true });
  if (first !== undefined) {
    const top = resolve(first);
    for (let at = path; at.length >= top.length; at = dirname(at)) made.add(at);
  }
  holders.set(path, (holders.get(path) ?? 0) + 1);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    release(path);
  };
}

function release(path: string): void {
  const left = holders.get(path)! - 1;
  if (left > 0) holders.set(path, left);
  else holders.delete(path);
  for (let at = path; made.has(at) && !isHeld(at); at = dirname(at)) {
    made.delete(at);
    try {
      rmdirSync(at);
    } catch {
      // Something is in it: it stays, and those above it do.
      for (let above = dirname(at); made.has(above); above = dirname(above)) made.delete(above);
      return;
    }
  }
}
