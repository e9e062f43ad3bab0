import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fault } from "../../errors.js";

/** The grid files that a person has named, each by itself or by its folder. */
export interface GridFiles {
  /** The path of a file, by its name in any case; null where it is not among them. */
  find(name: string): string | null;
  /** Those that were named by themselves. */
  readonly named: readonly string[];
}

export const noGridFiles: GridFiles = { find: () => null, named: [] };

/**
 * Of two files of one name the first counts. Folders are not looked through more deeply.
 * @throws grid-missing where there is no such file or folder
 */
export async function gridFilesAt(paths: readonly string[]): Promise<GridFiles> {
  if (paths.length === 0) return noGridFiles;
  const byName = new Map<string, string>();
  const named: string[] = [];
  const add = (path: string) => {
    const key = basename(path).toLowerCase();
    if (!byName.has(key)) byName.set(key, path);
  };
  for (const given of paths) {
    const path = resolve(given);
    const found = await stat(path).catch((error: Error) => {
      throw fault("grid-missing", { source: given }, error);
    });
    if (found.isDirectory()) for (const name of (await readdir(path)).sort()) add(join(path, name));
    else {
      add(path);
      named.push(path);
    }
  }
  return { find: (name) => byName.get(basename(name).toLowerCase()) ?? null, named };
}
