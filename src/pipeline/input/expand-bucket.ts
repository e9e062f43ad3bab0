/** Expands a bucket address to objects: prefixes and globs. */
import { posix } from "node:path";
import { GeoferryError } from "../../errors.js";
import { folderPrefix, formatBucketAddress, parseBucketAddress } from "../../io/s3/bucket-address.js";
import { globBucket } from "../../io/s3/glob-bucket.js";
import { headObject, listAll, prefixExists } from "../../io/s3/list-objects.js";
import type { Registry } from "../../plugin/registry.js";
import { type ExpandedInput, globBase, isGlob, isSeparateInput } from "./expand-inputs.js";

const isHidden = (part: string): boolean => part.startsWith(".") || part === "__MACOSX";

/** The objects below a prefix that are inputs, and its dataset folders. */
async function walkPrefix(folder: string, registry: Registry, signal: AbortSignal): Promise<ExpandedInput[]> {
  const { bucket, key: prefix } = parseBucketAddress(folder);
  const byFolder = new Map<string, string[]>();
  const found = new Set<string>();
  for (const { key } of await listAll({ bucket, key: prefix }, signal)) {
    const inside = key.slice(prefix.length);
    const parts = inside.split("/");
    // Some tools create an empty object as a folder marker.
    if (inside === "" || inside.endsWith("/") || parts.some(isHidden)) continue;
    const dataset = parts.slice(0, -1).findIndex((part) => registry.isDatasetFolder(part));
    if (dataset >= 0) found.add(parts.slice(0, dataset + 1).join("/"));
    else byFolder.set(folderPrefix(inside), [...(byFolder.get(folderPrefix(inside)) ?? []), inside]);
  }
  for (const inside of byFolder.values()) {
    const names = inside.map((path) => posix.basename(path));
    for (const path of inside) if (isSeparateInput(registry, path, names)) found.add(path);
  }
  return [...found]
    .sort()
    .map((relativePath) => ({ address: formatBucketAddress({ bucket, key: prefix + relativePath }), relativePath }));
}

/** Whether an object with exactly this key exists; assumed if the store forbids the request. */
async function objectExists(address: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await headObject(parseBucketAddress(address), signal)) !== null;
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "bucket-forbidden") return true;
    throw error;
  }
}

async function expandBucketGlob(pattern: string, registry: Registry, signal: AbortSignal): Promise<ExpandedInput[]> {
  const found = await globBucket(pattern, signal);
  const all = found.map((address) => posix.basename(address));
  const named = found.filter((address) => isSeparateInput(registry, address, all));
  const base = `${globBase(pattern)}/`;
  // A glob that matches only unknown extensions means those objects.
  return (named.length > 0 ? named : found).map((address) => ({ address, relativePath: address.slice(base.length) }));
}

/**
 * @param isDataset whether a folder of this name is one input
 * @throws usage, input-download, bucket-forbidden, bucket-unavailable; nothing found is an empty list
 */
export async function expandBucket(
  text: string,
  registry: Registry,
  isDataset: (path: string) => boolean,
  signal: AbortSignal,
): Promise<ExpandedInput[]> {
  const { key } = parseBucketAddress(text);
  const alone = [{ address: text, relativePath: posix.basename(key) }];
  if (isDataset(text)) return alone;
  if (key === "" || key.endsWith("/"))
    return walkPrefix(formatBucketAddress(parseBucketAddress(text)), registry, signal);
  const isKnown = registry.findByExtension(key).length > 0 || /\.zip$/i.test(key);
  if (!isGlob(key) && isKnown) return alone;
  if (await objectExists(text, signal)) return alone;
  if (isGlob(key)) return expandBucketGlob(text, registry, signal);
  return (await prefixExists(parseBucketAddress(text), signal)) ? walkPrefix(`${text}/`, registry, signal) : alone;
}
