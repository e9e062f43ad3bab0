/** Whether sources are as they were when an earlier run converted them. */
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
  /** What the system, or the server, says of it: where that is the same, so is the content. */
  readonly stamp: string;
  /** Of the content, hexadecimal; null where it was not read. */
  readonly digest: string | null;
}

/** Milliseconds that a server may take to say what it has. */
const statTimeoutMs = 15_000;

/**
 * What the inputs of a conversion are now.
 * @param digests whether files are read, too
 * @returns null where it cannot be told: of maps, databases, and addresses whose server names no versions
 * @throws input-unavailable, bucket-unavailable where a server cannot be reached
 */
export async function statSources(
  inputs: readonly string[],
  registry: Registry,
  signal: AbortSignal,
  digests: boolean,
): Promise<SourceStat[] | null> {
  const marks: SourceStat[] = [];
  for (const input of inputs) {
    if (isWebAddress(input)) {
      const stamp = await fetchVersion(input, signal);
      if (stamp === null) return null;
      marks.push({ name: input, stamp, digest: null });
    } else if (isBucketAddress(input)) {
      const found = await statObjects(input, registry, signal);
      if (found === null) return null;
      marks.push(...found);
    } else if (isAddress(input, registry)) return null;
    else {
      const files = listSourceFiles(input, registry);
      if (files === null) return null;
      try {
        for (const file of files) marks.push(await statSource(file, digests, signal));
      } catch {
        // The conversion says what is wrong with it, or that all is being stopped.
        return null;
      }
    }
  }
  return marks;
}

/** Whether nothing has changed: files whose times did are read to see. */
export async function isUnchanged(
  before: readonly SourceStat[],
  now: readonly SourceStat[],
  signal: AbortSignal,
): Promise<boolean> {
  if (before.length !== now.length || now.some(({ name }, index) => before[index]!.name !== name)) return false;
  for (const [index, { name, stamp }] of now.entries()) {
    const { stamp: earlier, digest } = before[index]!;
    if (stamp === earlier) continue;
    // What cannot be read is not known to be the same; the conversion says what is wrong with it.
    if (digest === null || (await digestFile(name, signal).catch(() => null)) !== digest) return false;
  }
  return true;
}

/** Size, times and number of a file: every write changes one of them. Null where it is not there. */
export function readFileStamp(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}` : null;
}

/** The object and what belongs to it, by ETag and size; null where the store does not say: the conversion says why. */
async function statObjects(address: string, registry: Registry, signal: AbortSignal): Promise<SourceStat[] | null> {
  const { inputObjects } = await import("../../io/s3/s3-input.js");
  const options = { signal, siblingsOf: (name: string) => registry.findSiblingExtensions(name) };
  const isFolder = registry.isDatasetFolder(address);
  const asked = inputObjects(address, { ...options, isDatasetFolder: () => isFolder });
  const objects = await asked.catch((error: unknown) => {
    // The conversion would wait for as long again.
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

/** Of an output, as it was left; of an object which writing it is of. Null where it is not there. */
export async function readStamp(path: string, signal: AbortSignal): Promise<string | null> {
  if (!isBucketAddress(path)) return readOutputStamp(path);
  const { headObject } = await import("../../io/s3/list-objects.js");
  const found = await headObject(parseBucketAddress(path), signal);
  return found && (found.writing ?? found.etag);
}

/**
 * Of a file that is an output. Unlike a source it may have had another name in between: where something else could not
 * be written, it was put back.
 */
export function readOutputStamp(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ino}` : null;
}

/** The files of an output: of a folder all, of a file those of its stem that its own format puts beside it. */
export function listOutputFiles(path: string, registry: Registry): string[] {
  if (!existsSync(path)) return [path];
  if (statSync(path).isDirectory()) return listFolder(path);
  // A log of changes belongs to whoever has the database open.
  const own = registry.findSiblingExtensions(path).filter((extension) => !/-(wal|shm|journal)$/.test(extension));
  const stem = join(dirname(path), basename(path, extname(path)));
  return [path, ...own.map((extension) => `${stem}.${extension}`).filter((name) => existsSync(name))];
}

async function statSource(path: string, digests: boolean, signal: AbortSignal): Promise<SourceStat> {
  // Before the content: what is written meanwhile is seen the next time.
  const stamp = readFileStamp(path) ?? "";
  return { name: path, stamp, digest: digests ? await digestFile(path, signal) : null };
}

export async function digestFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest("hex");
}

/** The file and what belongs to it (`.dbf`, `.prj` …); all of a folder; null where there is nothing to look at. */
function listSourceFiles(input: string, registry: Registry): string[] | null {
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
    // The conversion says what is wrong with it.
    return null;
  }
}

const listFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** What a server calls the version of what it has (RFC 9110, 8.8); null where it does not say. */
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
    // Where there is no connection a download finds none either; of anything else it says what is wrong.
    if (error instanceof NoResponseError && error.isUnsent && error.failure.isTransient)
      throw networkError(shown, error, true);
    return null;
  }
}
