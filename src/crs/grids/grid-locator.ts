import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { createError } from "../../errors.js";

/** The grid files that can be used: those that a person names, then those in the standard folders. */
export interface GridLocator {
  /** The path of a file, by its name in any case; null if it is not among them. */
  find(name: string): string | null;
  /** Those that were named by themselves. */
  readonly explicitFiles: readonly string[];
}

/** Where to look for grid files. */
export interface GridSources {
  /** Files, and folders of them, that a person names. */
  readonly grids?: readonly string[];
  /** Folders that are searched afterwards; those that do not exist are left out. */
  readonly gridFolders?: readonly string[];
  /** Names of files that are taken for present, to find out what they would be used for. */
  readonly assumedGrids?: ReadonlySet<string>;
}

export const noGrids: GridLocator = { find: () => null, explicitFiles: [] };

/** What standard folders have, by folder: each is listed once. */
const folderListings = new Map<string, Promise<readonly string[]>>();

const listFolder = (folder: string): Promise<readonly string[]> => {
  const listing =
    folderListings.get(folder) ??
    readdir(folder).then(
      (names) => names.sort(),
      () => [],
    );
  folderListings.set(folder, listing);
  return listing;
};

/** Has a standard folder listed again, after a file was put there. */
export const clearFolderListing = (folder: string): boolean => folderListings.delete(folder);

/**
 * Of two files of one name the first counts. Folders are not searched recursively.
 * @throws grid-missing if a file or folder that a person names does not exist
 */
export async function locateGrids({ grids = [], gridFolders = [], assumedGrids }: GridSources): Promise<GridLocator> {
  if (grids.length === 0 && gridFolders.length === 0 && assumedGrids === undefined) return noGrids;
  const byName = new Map<string, string>();
  const explicitFiles: string[] = [];
  const add = (path: string) => {
    const key = basename(path).toLowerCase();
    if (!byName.has(key)) byName.set(key, path);
  };
  for (const given of grids) {
    const path = resolve(given);
    const found = await stat(path).catch((error: Error) => {
      throw createError("grid-missing", { source: given }, error);
    });
    if (found.isDirectory()) for (const name of (await readdir(path)).sort()) add(join(path, name));
    else {
      add(path);
      explicitFiles.push(path);
    }
  }
  const listed = await Promise.all(gridFolders.map(listFolder));
  listed.forEach((names, index) => {
    for (const name of names) add(join(gridFolders[index]!, name));
  });
  for (const name of assumedGrids ?? []) add(name);
  return { find: (name) => byName.get(basename(name).toLowerCase()) ?? null, explicitFiles };
}
