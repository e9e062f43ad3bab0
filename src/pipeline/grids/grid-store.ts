/** The shift grids of this machine: the folders in which they are searched, and downloading those that PROJ publishes. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { clearFolderListing, type PublishedGrid, publishedGrid, publishedGrids } from "../../crs/grids/index.js";
import { createError } from "../../errors.js";

/** Where grids are downloaded from, and where they are kept. */
export interface GridStore {
  /** An http(s) address with the files of PROJ's below it. */
  readonly endpoint: string;
  readonly cacheFolder: string;
}

/** The grids of the machine that a conversion runs on. */
export interface HostGrids extends GridStore {
  /** Folders that are searched after the grids that a person names. */
  readonly folders: readonly string[];
  /** Download those that a reprojection needs. */
  readonly allowsDownload: boolean;
}

export interface GridDownload {
  readonly signal: AbortSignal;
  /** Bytes of the grid that have arrived, and of all of it. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** What a server is asked for has the name that the catalogue gives it: no part of it comes from a person or a file. */
export const gridUrl = (endpoint: string, { name }: PublishedGrid): string => `${endpoint.replace(/\/+$/, "")}/${name}`;

export const gridCachePath = (cache: string, { name }: PublishedGrid): string => join(cache, name);

/** The grid of a name. @throws grid-unknown */
export function requirePublishedGrid(name: string): PublishedGrid {
  const found = publishedGrid(name);
  if (found) return found;
  throw createError("grid-unknown", { grid: name, known: publishedGrids().map((grid) => grid.name) });
}

/**
 * Downloads a grid into the cache, unless it is there already.
 * @returns whether it was downloaded
 * @throws grid-checksum-mismatch, input-download, input-unavailable, input-forbidden, output-failed, interrupted
 */
export async function fetchGrid(grid: PublishedGrid, store: GridStore, options: GridDownload): Promise<boolean> {
  const { downloadVerified, isVerified } = await import("../../io/http/verified-download.js");
  const { bytes, sha256 } = grid;
  const path = gridCachePath(store.cacheFolder, grid);
  if (await isVerified(path, grid)) return false;
  const { signal, onProgress } = options;
  await downloadVerified({ url: gridUrl(store.endpoint, grid), bytes, sha256 }, path, {
    signal,
    ...(onProgress ? { progress: (done) => onProgress(done, bytes) } : {}),
    createChecksumError: (source, reason) => createError("grid-checksum-mismatch", { source, reason }),
  });
  clearFolderListing(store.cacheFolder);
  return true;
}

/** A file of a folder that is a shift grid by its name. */
export interface GridFile {
  readonly name: string;
  readonly size: number;
  /** What PROJ publishes the same grid under; null for any other. */
  readonly published: string | null;
}

/** The grid files of a folder, by name, or a file itself; null where there is no such folder. */
export async function listGridFiles(path: string): Promise<readonly GridFile[] | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  const paths = found.isDirectory() ? (await readdir(path)).sort().map((name) => join(path, name)) : [path];
  const grids: GridFile[] = [];
  for (const each of paths) {
    const name = basename(each);
    const published = publishedGrid(name)?.name ?? null;
    if (published === null && !/\.(gsb|tif|tiff)$/i.test(name)) continue;
    const file = await stat(each).catch(() => null);
    if (file?.isFile()) grids.push({ name, size: file.size, published });
  }
  return grids;
}
