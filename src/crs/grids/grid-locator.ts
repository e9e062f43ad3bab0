import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { createError } from "../../errors.js";

/** Finds grid files: first those of the request, then those in the standard folders. */
export interface GridLocator {
  /** The path of a file by its name, ignoring case; null if it is not found. */
  find(name: string): string | null;
  /** Grid files that the request names, not in a folder. */
  readonly explicitFiles: readonly string[];
}

/** Where to look for grid files. */
export interface GridSources {
  /** Files and folders of the request. */
  readonly grids?: readonly string[];
  /** Standard folders, searched afterwards; missing ones are ignored. */
  readonly gridFolders?: readonly string[];
  /** Names of files that are assumed to exist, to find out what they would be used for. */
  readonly assumedGrids?: ReadonlySet<string>;
}

export const noGrids: GridLocator = { find: () => null, explicitFiles: [] };

/** Listings of standard folders: each is listed once. */
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

/** Forgets the listing of a standard folder, after a file was added. */
export const clearFolderListing = (folder: string): boolean => folderListings.delete(folder);

/**
 * Of two files with the same name the first is used. Folders are not searched recursively.
 * @throws grid-missing if a file or folder of the request does not exist
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
