/** Detects whether sources have changed since an earlier run. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { GeoferryError } from "../../errors.js";
import { networkError, sendRequest } from "../../io/http/download.js";
import { NoResponseError } from "../../io/http/http-exchange.js";
import { redactUrl } from "../../io/redact.js";
import { formatBucketAddress, isBucketAddress, parseBucketAddress } from "../../io/s3/bucket-address.js";
import { networkSettings } from "../../network-settings.js";
import { isAddress, isWebAddress } from "../../pipeline/input/expand-inputs.js";
import type { Registry } from "../../plugin/registry.js";

/** One file of a source, or one address. */
export interface SourceStat {
  readonly name: string;
  /** File metadata, or the server's validators: an equal stamp means equal content. */
  readonly stamp: string;
  /** SHA-256 of the content, hexadecimal; null if it was not read. */
  readonly digest: string | null;
}

const statTimeoutMs = 15_000;

/**
 * Reads the current state of the inputs of a conversion.
 * @param digests whether to hash the contents of files
 * @returns null if changes cannot be detected: maps, databases, services with features, and servers that send no validators
 * @throws input-unavailable, bucket-unavailable if a server cannot be reached
 */
export async function statSources(
  inputs: readonly string[],
  registry: Registry,
  signal: AbortSignal,
  digests: boolean,
): Promise<SourceStat[] | null> {
  const stats: SourceStat[] = [];
  for (const input of inputs) {
    // The page at the address of a service describes it, and stays the same when its features change.
    if (registry.findByAddress(input)) return null;
    if (isWebAddress(input)) {
      const stamp = await fetchVersion(input, signal);
      if (stamp === null) return null;
      stats.push({ name: input, stamp, digest: null });
    } else if (isBucketAddress(input)) {
      const found = await statObjects(input, registry, signal);
      if (found === null) return null;
      stats.push(...found);
    } else if (isAddress(input, registry)) return null;
    else {
      const files = listSourceFiles(input, registry);
      if (files === null) return null;
      try {
        for (const file of files) stats.push(await statSource(file, digests, signal));
      } catch {
        // The conversion reports the error.
        return null;
      }
    }
  }
  return stats;
}

/** Whether nothing has changed. Files with another stamp are compared by digest. */
export async function isUnchanged(
  before: readonly SourceStat[],
  now: readonly SourceStat[],
  signal: AbortSignal,
): Promise<boolean> {
  if (before.length !== now.length || now.some(({ name }, index) => before[index]!.name !== name)) return false;
  for (const [index, { name, stamp }] of now.entries()) {
    const { stamp: earlier, digest } = before[index]!;
    if (stamp === earlier) continue;
    // The conversion reports a file that cannot be read.
    if (digest === null || (await digestFile(name, signal).catch(() => null)) !== digest) return false;
  }
  return true;
}

/** Size, times and inode of a file: every write changes one of them. Null if it does not exist. */
export function readFileStamp(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}` : null;
}

/** ETag and size of an object and its companions; null on errors, which the conversion reports. */
async function statObjects(address: string, registry: Registry, signal: AbortSignal): Promise<SourceStat[] | null> {
  const { inputObjects } = await import("../../io/s3/s3-input.js");
  const options = { signal, siblingsOf: (name: string) => registry.findSiblingExtensions(name) };
  const isFolder = registry.isDatasetFolder(address);
  const listing = inputObjects(address, { ...options, isDatasetFolder: () => isFolder });
  const objects = await listing.catch((error: unknown) => {
    // The conversion would wait for the same timeout again.
    if (error instanceof GeoferryError && error.kind === "unavailable") throw error;
    return null;
  });
  return (
    objects?.map((object) => ({
      name: formatBucketAddress(object),
      stamp: `${object.etag} ${object.size}`,
      digest: null,
    })) ?? null
  );
}

/** Stamp of an output file; for an object, the id of the upload that wrote it. Null if it does not exist. */
export async function readStamp(path: string, signal: AbortSignal): Promise<string | null> {
  if (!isBucketAddress(path)) return readOutputStamp(path);
  const { headObject } = await import("../../io/s3/list-objects.js");
  const found = await headObject(parseBucketAddress(path), signal);
  return found && (found.writing ?? found.etag);
}

/**
 * Stamp of an output file. It omits the ctime, which changes when a failed commit moves the file away and back.
 */
export function readOutputStamp(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ino}` : null;
}

/** The files of an output: all files of a folder, or a file and the sibling files of its format. */
export function listOutputFiles(path: string, registry: Registry): string[] {
  if (!existsSync(path)) return [path];
  if (statSync(path).isDirectory()) return listFolder(path);
  // SQLite's write-ahead log and journal belong to the process that has the database open.
  const own = registry.findSiblingExtensions(path).filter((extension) => !/-(wal|shm|journal)$/.test(extension));
  const stem = join(dirname(path), basename(path, extname(path)));
  return [path, ...own.map((extension) => `${stem}.${extension}`).filter((name) => existsSync(name))];
}

async function statSource(path: string, digests: boolean, signal: AbortSignal): Promise<SourceStat> {
  // Read before the content, so that the next run sees a concurrent write.
  const stamp = readFileStamp(path) ?? "";
  return { name: path, stamp, digest: digests ? await digestFile(path, signal) : null };
}

export async function digestFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest("hex");
}

/** A file and its companions (`.dbf`, `.prj` …), or all files of a folder; null for pipes and missing files. */
export function listSourceFiles(input: string, registry: Registry): string[] | null {
  try {
    const stat = statSync(input);
    if (stat.isDirectory()) return listFolder(input);
    // A pipe can be read once.
    if (!stat.isFile()) return null;
    const [folder, stem] = [dirname(input), basename(input, extname(input)).toLowerCase()];
    const beside = readdirSync(folder).filter(
      (name) => name !== basename(input) && name.toLowerCase().startsWith(`${stem}.`) && registry.isCompanion(name),
    );
    return [input, ...beside.sort().map((name) => join(folder, name))];
  } catch {
    // The conversion reports the error.
    return null;
  }
}

const listFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** The validators that a server sends (RFC 9110, 8.8); null if it sends none. */
async function fetchVersion(address: string, signal: AbortSignal): Promise<string | null> {
  const shown = redactUrl(address);
  try {
    const timeout = Math.min(networkSettings().timeout, statTimeoutMs);
    const headers = { "accept-encoding": "identity" };
    const answer = await sendRequest(new URL(address), shown, { signal, method: "HEAD", headers, limits: { timeout } });
    answer.discard();
    const { etag, "last-modified": modified, "content-length": length } = answer.headers;
    if (answer.status !== 200 || (etag === undefined && modified === undefined)) return null;
    return [etag, modified, length].map((each) => each ?? "").join(" ");
  } catch (error) {
    // Without a connection the download would fail, too; the conversion reports other errors.
    if (error instanceof NoResponseError && error.isUnsent && error.failure.isTransient)
      throw networkError(shown, error, true);
    return null;
  }
}
