/** Whether sources are as they were when an earlier run converted them. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { GeoferryError } from "../errors.js";
import { networkFault, request } from "../io/download.js";
import { Unanswered } from "../io/http.js";
import { bucketAddressOf, isBucketAddress, textOf } from "../io/s3-address.js";
import { withoutSecrets } from "../io/without-secrets.js";
import { network } from "../network.js";
import { isAddress, isWebAddress } from "../pipeline/expand.js";
import type { Registry } from "../plugin/registry.js";

/** One file of a source, or one address. */
export interface Mark {
  readonly name: string;
  /** What the system, or the server, says of it: where that is the same, so is the content. */
  readonly stamp: string;
  /** Of the content, hexadecimal; null where it was not read. */
  readonly digest: string | null;
}

/** Milliseconds that a server may take to say what it has. */
const patience = 15_000;

/**
 * What the inputs of a conversion are now.
 * @param digests whether files are read, too
 * @returns null where it cannot be told: of maps, databases, and addresses whose server names no versions
 * @throws input-unavailable, bucket-unavailable where a server cannot be reached
 */
export async function marksOf(
  inputs: readonly string[],
  registry: Registry,
  signal: AbortSignal,
  digests: boolean,
): Promise<Mark[] | null> {
  const marks: Mark[] = [];
  for (const input of inputs) {
    if (isWebAddress(input)) {
      const stamp = await versionOf(input, signal);
      if (stamp === null) return null;
      marks.push({ name: input, stamp, digest: null });
    } else if (isBucketAddress(input)) {
      const found = await objectsOf(input, registry, signal);
      if (found === null) return null;
      marks.push(...found);
    } else if (isAddress(input, registry)) return null;
    else {
      const files = filesOf(input, registry);
      if (files === null) return null;
      try {
        for (const file of files) marks.push(await markOf(file, digests, signal));
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
  before: readonly Mark[],
  now: readonly Mark[],
  signal: AbortSignal,
): Promise<boolean> {
  if (before.length !== now.length || now.some(({ name }, index) => before[index]!.name !== name)) return false;
  for (const [index, { name, stamp }] of now.entries()) {
    const { stamp: earlier, digest } = before[index]!;
    if (stamp === earlier) continue;
    // What cannot be read is not known to be the same; the conversion says what is wrong with it.
    if (digest === null || (await digestOf(name, signal).catch(() => null)) !== digest) return false;
  }
  return true;
}

/** Size, times and number of a file: every write changes one of them. Null where it is not there. */
export function stampOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}` : null;
}

/** The object and what belongs to it, by ETag and size; null where the store does not say: the conversion says why. */
async function objectsOf(address: string, registry: Registry, signal: AbortSignal): Promise<Mark[] | null> {
  const { inputObjects } = await import("../io/s3-input.js");
  const options = { signal, siblingsOf: (name: string) => registry.siblingsOf(name) };
  const isFolder = registry.isDatasetFolder(address);
  const asked = inputObjects(address, { ...options, isDatasetFolder: () => isFolder });
  const objects = await asked.catch((error: unknown) => {
    // The conversion would wait for as long again.
    if (error instanceof GeoferryError && error.kind === "unavailable") throw error;
    return null;
  });
  return (
    objects?.map((object) => ({ name: textOf(object), stamp: `${object.etag} ${object.size}`, digest: null })) ?? null
  );
}

/** Of an output, as it was left; of an object which writing it is of. Null where it is not there. */
export async function stampAt(path: string, signal: AbortSignal): Promise<string | null> {
  if (!isBucketAddress(path)) return outputStampOf(path);
  const { headOf } = await import("../io/s3-listing.js");
  const found = await headOf(bucketAddressOf(path), signal);
  return found && (found.writing ?? found.etag);
}

/**
 * Of a file that is an output. Unlike a source it may have had another name in between: where something else could not
 * be written, it was put back.
 */
export function outputStampOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeNs} ${stat.ino}` : null;
}

/** The files of an output: of a folder all, of a file those of its stem that its own format puts beside it. */
export function filesWritten(path: string, registry: Registry): string[] {
  if (!existsSync(path)) return [path];
  if (statSync(path).isDirectory()) return allWithin(path);
  // A log of changes belongs to whoever has the database open.
  const own = registry.siblingsOf(path).filter((extension) => !/-(wal|shm|journal)$/.test(extension));
  const stem = join(dirname(path), basename(path, extname(path)));
  return [path, ...own.map((extension) => `${stem}.${extension}`).filter((name) => existsSync(name))];
}

async function markOf(path: string, digests: boolean, signal: AbortSignal): Promise<Mark> {
  // Before the content: what is written meanwhile is seen the next time.
  const stamp = stampOf(path) ?? "";
  return { name: path, stamp, digest: digests ? await digestOf(path, signal) : null };
}

export async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest("hex");
}

/** The file and what belongs to it (`.dbf`, `.prj` …); all of a folder; null where there is nothing to look at. */
function filesOf(input: string, registry: Registry): string[] | null {
  try {
    const stat = statSync(input);
    if (stat.isDirectory()) return allWithin(input);
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

const allWithin = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** What a server calls the version of what it has (RFC 9110, 8.8); null where it does not say. */
async function versionOf(address: string, signal: AbortSignal): Promise<string | null> {
  const shown = withoutSecrets(address);
  try {
    const timeout = Math.min(network().timeout, patience);
    const headers = { "accept-encoding": "identity" };
    const answer = await request(new URL(address), shown, { signal, method: "HEAD", headers, limits: { timeout } });
    answer.drop();
    const { etag, "last-modified": modified, "content-length": length } = answer.headers;
    if (answer.status !== 200 || (etag === undefined && modified === undefined)) return null;
    return [etag, modified, length].map((each) => each ?? "").join(" ");
  } catch (error) {
    // Where there is no connection a download finds none either; of anything else it says what is wrong.
    if (error instanceof Unanswered && error.unsent && error.failure.passes) throw networkFault(shown, error, true);
    return null;
  }
}
