/** An object of a bucket as an input: spooled to disk with the objects beside it that its format may need. */
import { extname, join } from "node:path";
import { fault, GeoferryError } from "../errors.js";
import type { InputOptions } from "./input.js";
import { bucketAddressOf, nameOf, prefixOf, textOf } from "./s3-address.js";
import { fetchObjects } from "./s3-fetch.js";
import { headOf, listAll, listBeside, type StoredObject } from "./s3-listing.js";
import { safeName } from "./safe-name.js";
import { FileSource } from "./source.js";

interface Fetched {
  readonly object: StoredObject;
  readonly path: string;
}

/** Whether the store says no to a question that it may answer for a single object. */
const mayNot = (error: unknown): boolean => error instanceof GeoferryError && error.code === "bucket-forbidden";

/**
 * What stands beside an object under its name, by extension in any case: `roads.dbf`, `ROADS.DBF` beside `ROADS.SHP`.
 * Where the bucket may not be listed they are asked for one by one.
 * @throws as `ask` does
 */
export async function siblingsOf(
  { bucket, key }: StoredObject,
  extensions: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StoredObject>> {
  const found = new Map<string, StoredObject>();
  const stem = key.slice(0, key.length - extname(nameOf(key)).length);
  if (extensions.length === 0) return found;
  try {
    const beside = await listBeside({ bucket, key, use: "read", signal }, `${stem}.`);
    for (const extension of extensions) {
      const alike = beside.filter((object) => object.key.slice(stem.length + 1).toLowerCase() === extension);
      const sibling = alike.find((object) => object.key.endsWith(`.${extension}`)) ?? alike[0];
      if (sibling && sibling.key !== key) found.set(extension, sibling);
    }
    return found;
  } catch (error) {
    if (!mayNot(error)) throw error;
  }
  for (const extension of extensions) {
    for (const written of [extension, extension.toUpperCase()]) {
      const sibling = await headOf({ bucket, key: `${stem}.${written}` }, signal).catch((error: unknown) => {
        // Without the right to list, a store does not even say that there is none.
        if (mayNot(error)) return null;
        throw error;
      });
      if (sibling) found.set(extension, sibling);
      if (sibling) break;
    }
  }
  return found;
}

/** @throws input-changed where one of several objects is another by now: they would not belong together */
async function checkVersions(fetched: readonly Fetched[], signal: AbortSignal): Promise<void> {
  if (fetched.length < 2) return;
  const now = await Promise.all(fetched.map(({ object }) => headOf(object, signal)));
  const changed = fetched.find(({ object }, n) => now[n]?.etag !== object.etag);
  if (changed) throw fault("input-changed", { source: textOf(changed.object) });
}

async function fetchAll(fetched: readonly Fetched[], options: InputOptions): Promise<void> {
  const { signal, maxBytes, progress } = options;
  const total = fetched.reduce((sum, { object }) => sum + object.size, 0);
  await fetchObjects(fetched, {
    signal,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(progress ? { progress: (done: number) => progress(done, total) } : {}),
  });
  await checkVersions(fetched, signal);
}

/** All below a prefix that is one dataset, as `x.gdb/` is. */
async function fetchFolder(address: string, options: InputOptions): Promise<FileSource> {
  const { bucket, key } = bucketAddressOf(address);
  const prefix = `${key.replace(/\/$/, "")}/`;
  const objects = (await listAll({ bucket, key: prefix }, options.signal)).filter(({ key }) => !key.endsWith("/"));
  if (objects.length === 0) throw fault("input-missing", { source: address });
  const folder = join(options.spool.folder(), safeName(nameOf(prefix.slice(0, -1))) ?? "folder");
  const inside = (each: string) =>
    each
      .slice(prefix.length)
      .split("/")
      .map((part) => safeName(part) ?? "_");
  await fetchAll(
    objects.map((object) => ({ object, path: join(folder, ...inside(object.key)) })),
    options,
  );
  return FileSource.at(folder, address.replace(/\/$/, ""), true);
}

/**
 * @throws input-missing, input-download, input-changed, input-too-large, bucket-forbidden, bucket-unavailable,
 * bucket-settings, output-failed, interrupted, usage
 */
export async function fetchInput(address: string, options: InputOptions): Promise<FileSource> {
  if (options.isDatasetFolder?.(address)) return fetchFolder(address, options);
  const { bucket, key } = bucketAddressOf(address);
  const name = safeName(nameOf(key));
  const main = name === null ? null : await headOf({ bucket, key }, options.signal);
  if (name === null || main === null) throw fault("input-missing", { source: address });
  const path = join(options.spool.folder(), name);
  const siblings = await siblingsOf(main, options.siblingsOf?.(name) ?? [], options.signal);
  const stem = path.slice(0, path.length - extname(path).length);
  const beside = [...siblings].map(([extension, object]) => ({ object, path: `${stem}.${extension}` }));
  await fetchAll([{ object: main, path }, ...beside], options);
  return FileSource.at(path, textOf({ bucket, key: `${prefixOf(key)}${name}` }));
}
