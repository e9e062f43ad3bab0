/** Downloads objects of a bucket to files, each from a single version. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { createError, GeoferryError } from "../../errors.js";
import { maxTimeoutRetries, networkSettings } from "../../network-settings.js";
import { isTimeoutError } from "../http/http-exchange.js";
import { spoolStream, withSpoolErrors } from "../input/spool.js";
import { formatBucketAddress } from "./bucket-address.js";
import type { StoredObject } from "./list-objects.js";
import { bucketError, runS3Operation } from "./s3-client.js";
import { decodeObject } from "./stored-encoding.js";

/** Removes quotes and the weak prefix, in which stores and proxies differ. */
const normalizeEtag = (etag: string): string => etag.replace(/^W\/|"/g, "");

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly maxBytes?: number;
  /** Called with the bytes received so far. */
  readonly progress?: (done: number) => void;
}

/** What a download receives. */
interface ReceivedObject {
  /** Stored bytes received so far. */
  bytes: number;
  /** The header of the first response. */
  contentEncoding: string | undefined;
}

/**
 * Reads the stored bytes of the listed version. After a broken connection, requests the rest with the ETag as condition.
 * @throws input-changed if the object has another version now
 */
async function* readStoredBytes(
  { bucket, key, etag, size }: StoredObject,
  received: ReceivedObject,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const operation = { bucket, key, purpose: "read", signal } as const;
  const source = formatBucketAddress({ bucket, key });
  const { retries } = networkSettings();
  let done = 0;
  let late = 0;
  for (let breaks = 0; ; ) {
    const input = { Bucket: bucket, Key: key, ...(etag === "" ? {} : { IfMatch: etag }) };
    const range = done > 0 ? { Range: `bytes=${done}-` } : {};
    const { Body, ContentRange, ContentEncoding, ETag } = await runS3Operation(operation, (client, options) =>
      client.send(new GetObjectCommand({ ...input, ...range }), options),
    );
    // Some stores and proxies ignore conditions and ranges.
    if (etag !== "" && ETag !== undefined && normalizeEtag(ETag) !== normalizeEtag(etag))
      throw createError("input-changed", { source });
    if (done > 0 && !ContentRange?.startsWith(`bytes ${done}-`))
      throw createError("input-download", {
        source,
        reason: "the connection broke, and the store does not support range requests to resume",
      });
    received.contentEncoding ??= ContentEncoding;
    try {
      for await (const chunk of (Body ?? []) as AsyncIterable<Uint8Array>) {
        done += chunk.length;
        received.bytes = done;
        breaks = 0;
        yield chunk;
      }
    } catch (error) {
      const failure = bucketError(error, operation);
      if (isTimeoutError(error)) late++;
      if (failure.kind !== "unavailable" || breaks >= retries || late > maxTimeoutRetries) throw failure;
    }
    if (done >= size) return;
    breaks++;
    if (breaks > retries)
      throw createError("bucket-unavailable", {
        address: source,
        reason: `the store announced ${size} bytes and sent ${done}`,
      });
  }
}

/** The content of the object, decoded. The response with the encoding precedes the first chunk. */
async function* readObject(
  object: StoredObject,
  received: ReceivedObject,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stored = readStoredBytes(object, received, signal);
  const first = await stored.next();
  if (first.done) return;
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield first.value as Uint8Array;
    yield* stored;
  }
  yield* decodeObject(whole(), received.contentEncoding, formatBucketAddress(object));
}

/**
 * @param progress called with the stored bytes received and the bytes written so far
 * @throws as `runS3Operation` does, and input-changed, input-download, output-failed, interrupted
 */
async function fetchObject(
  object: StoredObject,
  path: string,
  signal: AbortSignal,
  progress: (received: number, written: number) => void,
): Promise<void> {
  const received: ReceivedObject = { bytes: 0, contentEncoding: undefined };
  await withSpoolErrors(path, mkdir(dirname(path), { recursive: true, mode: 0o700 }));
  try {
    await spoolStream(readObject(object, received, signal), path, {
      source: formatBucketAddress(object),
      progress: (written) => progress(received.bytes, written),
    });
  } catch (error) {
    if (signal.aborted && !(error instanceof GeoferryError && error.code === "interrupted"))
      throw createError("interrupted", {}, error);
    throw error;
  }
}

/**
 * Downloads the objects concurrently, and returns when all have arrived or failed.
 * @throws as `runS3Operation` does, and input-too-large, input-changed, input-download, output-failed, interrupted
 */
export async function fetchObjects(
  files: readonly { readonly object: StoredObject; readonly path: string }[],
  { signal, maxBytes, progress }: FetchOptions,
): Promise<void> {
  const [first] = files;
  const limitBytes = (total: number): void => {
    if (first && maxBytes !== undefined && total > maxBytes)
      throw createError("input-too-large", {
        source: formatBucketAddress(first.object),
        limit: maxBytes,
        option: "--max-input",
      });
  };
  limitBytes(files.reduce((sum, { object }) => sum + object.size, 0));
  const total = { received: 0, written: 0 };
  const fetchOne = async ({ object, path }: (typeof files)[number]) => {
    let last = { received: 0, written: 0 };
    await fetchObject(object, path, signal, (received, written) => {
      total.received += received - last.received;
      total.written += written - last.written;
      last = { received, written };
      // Decoded objects are larger than listed.
      limitBytes(total.written);
      progress?.(total.received);
    });
  };
  const { default: pLimit } = await import("p-limit");
  const limit = pLimit(maxConcurrentObjects);
  const outcomes = await Promise.allSettled(files.map((file) => limit(() => fetchOne(file))));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Concurrent downloads for one input. */
const maxConcurrentObjects = 4;
