/** Downloads an object of a bucket as an input, with the sibling objects that its format may need. */
import { extname, join } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import type { InputOptions } from "../input/open-input.js";
import { FileSource } from "../input/source.js";
import { safeName } from "../safe-name.js";
import { formatBucketAddress, objectName, parseBucketAddress } from "./bucket-address.js";
import { fetchObjects } from "./fetch-objects.js";
import { headObject, listAll, listSiblings, type StoredObject } from "./list-objects.js";

interface PlacedObject {
  readonly object: StoredObject;
  readonly path: string;
}

/** A key or name without its extension. */
const stemOf = (key: string): string => key.slice(0, key.length - extname(objectName(key)).length);

/** Whether the store forbids listing; requests for single objects may still be allowed. */
const isListingForbidden = (error: unknown): boolean =>
  error instanceof GeoferryError && error.code === "bucket-forbidden";

/**
 * Finds siblings of an object by extension in any case: `roads.dbf`, `ROADS.DBF` beside `ROADS.SHP`. Without permission to
 * list the bucket, requests each one.
 * @throws as `runS3Operation` does
 */
async function findSiblings(
  { bucket, key }: StoredObject,
  extensions: readonly string[],
  signal: AbortSignal,
): Promise<readonly StoredObject[]> {
  const found = new Map<string, StoredObject>();
  const stem = stemOf(key);
  if (extensions.length === 0) return [];
  try {
    const beside = await listSiblings({ bucket, key, purpose: "read", signal }, `${stem}.`);
    for (const extension of extensions) {
      const alike = beside.filter((object) => object.key.slice(stem.length + 1).toLowerCase() === extension);
      const sibling = alike.find((object) => object.key.endsWith(`.${extension}`)) ?? alike[0];
      if (sibling && sibling.key !== key) found.set(extension, sibling);
    }
    return [...found.values()];
  } catch (error) {
    if (!isListingForbidden(error)) throw error;
  }
  for (const extension of extensions) {
    for (const written of [extension, extension.toUpperCase()]) {
      const sibling = await headObject({ bucket, key: `${stem}.${written}` }, signal).catch((error: unknown) => {
        // Without permission to list, a store answers "forbidden" for missing objects.
        if (isListingForbidden(error)) return null;
        throw error;
      });
      if (sibling) found.set(extension, sibling);
      if (sibling) break;
    }
  }
  return [...found.values()];
}

/** @throws input-changed if one of several objects has changed, so that they do not belong together */
async function checkUnchanged(fetched: readonly PlacedObject[], signal: AbortSignal): Promise<void> {
  if (fetched.length < 2) return;
  const now = await Promise.all(fetched.map(({ object }) => headObject(object, signal)));
  const changed = fetched.find(({ object }, n) => now[n]?.etag !== object.etag);
  if (changed) throw createError("input-changed", { source: formatBucketAddress(changed.object) });
}

/** Options that select the objects of an address. */
export type ObjectSelection = Pick<InputOptions, "signal" | "siblingsOf" | "isDatasetFolder">;

/**
 * Returns the objects of an input: first the named one, then the siblings that its format may need; or all objects below a
 * prefix that is one dataset, such as `x.gdb/`.
 * @throws input-missing, and as `runS3Operation` does
 */
export async function inputObjects(address: string, selection: ObjectSelection): Promise<readonly StoredObject[]> {
  const { bucket, key } = parseBucketAddress(address);
  if (selection.isDatasetFolder?.(address)) {
    const inside = await listAll({ bucket, key: `${key.replace(/\/$/, "")}/` }, selection.signal);
    const objects = inside.filter(({ key }) => !key.endsWith("/"));
    if (objects.length > 0) return objects;
    throw createError("input-missing", { source: address });
  }
  const main = objectName(key) === "" ? null : await headObject({ bucket, key }, selection.signal);
  if (main === null) throw createError("input-missing", { source: address });
  return [main, ...(await findSiblings(main, selection.siblingsOf?.(objectName(key)) ?? [], selection.signal))];
}

/** Assigns file paths to objects: companions get the stem of the main object, with extensions in lower case. */
function assignPaths(
  objects: readonly StoredObject[],
  address: string,
  folder: string,
  isFolder: boolean,
): PlacedObject[] {
  const part = (name: string) => safeName(name) ?? "_";
  if (isFolder) {
    const { length } = parseBucketAddress(`${address.replace(/\/$/, "")}/`).key;
    return objects.map((object) => ({ object, path: join(folder, ...object.key.slice(length).split("/").map(part)) }));
  }
  const [main] = objects as [StoredObject];
  const stem = stemOf(objectName(main.key));
  const named = part(objectName(main.key));
  const beside = ({ key }: StoredObject) => stemOf(named) + objectName(key).slice(stem.length).toLowerCase();
  return objects.map((object, n) => ({ object, path: join(folder, n === 0 ? named : beside(object)) }));
}

/**
 * @throws input-missing, input-download, input-changed, input-too-large, bucket-forbidden, bucket-unavailable,
 * bucket-settings, output-failed, interrupted, usage
 */
export async function fetchInput(address: string, options: InputOptions): Promise<FileSource> {
  const { signal, maxBytes, progress, spool } = options;
  const isFolder = options.isDatasetFolder?.(address) ?? false;
  const objects = await inputObjects(address, options);
  const root = spool.folder();
  const folder = isFolder ? join(root, safeName(objectName(address.replace(/\/$/, ""))) ?? "folder") : root;
  const fetched = assignPaths(objects, address, folder, isFolder);
  const total = objects.reduce((sum, { size }) => sum + size, 0);
  await fetchObjects(fetched, {
    signal,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(progress ? { progress: (done: number) => progress(done, total) } : {}),
  });
  await checkUnchanged(fetched, signal);
  return FileSource.at(isFolder ? folder : fetched[0]!.path, address.replace(/\/$/, ""), isFolder);
}
