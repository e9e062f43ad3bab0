/** Expands a glob in a bucket: walks prefixes like folders, and only those that may match. */
import type { Dirent } from "node:fs";
import { glob } from "tinyglobby";
import { formatBucketAddress, parseBucketAddress } from "./bucket-address.js";
import { listFolder } from "./list-objects.js";

type ReaddirCallback = (error: Error | null, entries?: Dirent[]) => void;

/** A directory entry with the methods that the glob library uses. */
function createDirent(name: string, isFolder: boolean): Dirent {
  const kind = { isFile: () => !isFolder, isDirectory: () => isFolder, isSymbolicLink: () => false };
  return { name, ...kind } as Dirent;
}

/**
 * Returns the addresses of the matching objects, sorted. The bucket name cannot contain a pattern.
 * @throws usage, input-download, bucket-forbidden, bucket-unavailable
 */
export async function globBucket(pattern: string, signal: AbortSignal): Promise<string[]> {
  const { bucket, key } = parseBucketAddress(pattern);
  let failure: unknown;
  const readdir = (path: string, _: unknown, heard: ReaddirCallback): void => {
    const prefix = path
      .replaceAll("\\", "/")
      .replace(/^([a-z]:)?\/+/i, "")
      .replace(/([^/])$/, "$1/");
    listFolder({ bucket, key: prefix }, signal).then(
      ({ objects, folders }) => {
        const files = objects.map(({ key }) => createDirent(key.slice(prefix.length), false));
        const below = folders.map((folder) => createDirent(folder.slice(prefix.length, -1), true));
        heard(
          null,
          [...files, ...below].filter(({ name }) => name !== ""),
        );
      },
      (error: unknown) => {
        // The glob library ignores folders that it cannot list.
        failure ??= error;
        heard(error as Error);
      },
    );
  };
  const options = { cwd: "/", fs: { readdir } as object, dot: false, onlyFiles: true, expandDirectories: false };
  const found = await glob(key, options);
  if (failure !== undefined) throw failure;
  return found.sort().map((match) => formatBucketAddress({ bucket, key: match }));
}
