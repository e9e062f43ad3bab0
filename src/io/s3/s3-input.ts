/** An object of a bucket as an input: spooled to disk with the objects beside it that its format may need. */
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

/** A key, or a name, without its extension. */
const stemOf = (key: string): string => key.slice(0, key.length - extname(objectName(key)).length);

/** Whether the store says no to a question that it may answer for a single object. */
const isListingForbidden = (error: unknown): boolean =>
  error instanceof GeoferryError && error.code === "bucket-forbidden";

/**
 * What stands beside an object under its name, by extension in any case: `roads.dbf`, `ROADS.DBF` beside `ROADS.SHP`.
 * Where the bucket may not be listed they are asked for one by one.
 * @throws as `ask` does
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
        // Without the right to list, a store does not even say that there is none.
        if (isListingForbidden(error)) return null;
        throw error;
      });
      if (sibling) found.set(extension, sibling);
      if (sibling) break;
    }
  }
  return [...found.values()];
}

/** @throws input-changed where one of several objects is another by now: they would not belong together */
async function checkUnchanged(fetched: readonly PlacedObject[], signal: AbortSignal): Promise<void> {
  if (fetched.length < 2) return;
  const now = await Promise.all(fetched.map(({ object }) => headObject(object, signal)));
  const changed = fetched.find(({ object }, n) => now[n]?.etag !== object.etag);
  if (changed) throw createError("input-changed", { source: formatBucketAddress(changed.object) });
}

/** Which objects are read of an address. */
export type ObjectSelection = Pick<InputOptions, "signal" | "siblingsOf" | "isDatasetFolder">;

/**
 * The objects that an input is of: the one that it names first, and those beside it that its format may need; all below a
 * prefix that is one dataset, as `x.gdb/` is.
 * @throws input-missing, and as `ask` does
 */
export async function inputObjects(address: string, asked: ObjectSelection): Promise<readonly StoredObject[]> {
  const { bucket, key } = parseBucketAddress(address);
  if (asked.isDatasetFolder?.(address)) {
    const inside = await listAll({ bucket, key: `${key.replace(/\/$/, "")}/` }, asked.signal);
    const objects = inside.filter(({ key }) => !key.endsWith("/"));
    if (objects.length > 0) return objects;
    throw createError("input-missing", { source: address });
  }
  const main = objectName(key) === "" ? null : await headObject({ bucket, key }, asked.signal);
  if (main === null) throw createError("input-missing", { source: address });
  return [main, ...(await findSiblings(main, asked.siblingsOf?.(objectName(key)) ?? [], asked.signal))];
}

/** Where the file of an object goes: its companions under the name of the first, with extensions in lower case. */
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
