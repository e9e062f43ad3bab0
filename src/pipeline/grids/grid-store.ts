/** The shift grids on this machine: search folders, and downloads of grids that PROJ publishes. */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { clearFolderListing, type PublishedGrid, publishedGrid, publishedGrids } from "../../crs/grids/index.js";
import { createError } from "../../errors.js";

/** Where grids are downloaded from and cached. */
export interface GridStore {
  /** The http(s) URL below which PROJ's grid files are. */
  readonly endpoint: string;
  readonly cacheFolder: string;
}

/** The grid settings of the machine that a conversion runs on. */
export interface HostGrids extends GridStore {
  /** Folders that are searched after the grids of the request. */
  readonly folders: readonly string[];
  /** Whether grids that a reprojection needs may be downloaded. */
  readonly allowsDownload: boolean;
}

export interface GridDownload {
  readonly signal: AbortSignal;
  /** Called with the bytes downloaded so far and the size of the grid. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The URL of a grid. Its path comes only from the catalog, never from user input or a file. */
export const gridUrl = (endpoint: string, { name }: PublishedGrid): string => `${endpoint.replace(/\/+$/, "")}/${name}`;

export const gridCachePath = (cache: string, { name }: PublishedGrid): string => join(cache, name);

/** Returns the published grid of this name. @throws grid-unknown */
export function requirePublishedGrid(name: string): PublishedGrid {
  const found = publishedGrid(name);
  if (found) return found;
  throw createError("grid-unknown", { grid: name, known: publishedGrids().map((grid) => grid.name) });
}

/**
 * Downloads a grid into the cache, unless the cache already has it.
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

/** A file that is a shift grid by its name. */
export interface GridFile {
  readonly name: string;
  readonly size: number;
  /** The name under which PROJ publishes the same grid; null if it does not. */
  readonly published: string | null;
}

/** Lists the grid files of a folder by name, or the file itself; null if the path does not exist. */
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
