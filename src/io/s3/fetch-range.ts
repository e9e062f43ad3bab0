/** Reads ranges of an object of a bucket, all of one version. */
import { join } from "node:path";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { createError } from "../../errors.js";
import { networkSettings } from "../../network-settings.js";
import type { InputOptions } from "../input/open-input.js";
import { type FetchRange, PartialSource, type RemoteFile } from "../input/partial-source.js";
import { safeName } from "../safe-name.js";
import { formatBucketAddress, objectName, parseBucketAddress } from "./bucket-address.js";
import { headObject } from "./list-objects.js";
import { bucketError, runS3Operation } from "./s3-client.js";
import { isEncoded } from "./stored-encoding.js";

type StoredFile = RemoteFile & { readonly kind: "s3" };

/** Enough to recognize a format. */
const headBytes = 1 << 12;

/**
 * Opens an object of which ranges are read. Null if there is none, its version is unknown, or it is
 * stored with an encoding, so that its ranges are not those of the file.
 * @throws as `runS3Operation` does, and output-failed
 */
export async function openRanges(address: string, options: InputOptions): Promise<PartialSource | null> {
  const { signal } = options;
  const { bucket, key } = parseBucketAddress(address);
  const found = objectName(key) === "" ? null : await headObject({ bucket, key }, signal);
  if (found === null || found.etag === "" || found.size === 0 || isEncoded(found.contentEncoding)) return null;
  const remote = { kind: "s3", bucket, key, etag: found.etag, size: found.size, limits: networkSettings() } as const;
  const head = await createFetch(remote)(0, Math.min(headBytes, found.size), signal);
  const path = join(options.spool.folder(), safeName(objectName(key)) ?? "object");
  return PartialSource.create(address, path, remote, head, options.maxBytes ?? null, signal);
}

/** The client retries transient errors. */
export function createFetch({ bucket, key, etag, size }: StoredFile): FetchRange {
  const source = formatBucketAddress({ bucket, key });
  return async (position, length, signal) => {
    const operation = { bucket, key, purpose: "read", signal } as const;
    const last = position + length - 1;
    const input = { Bucket: bucket, Key: key, IfMatch: etag, Range: `bytes=${position}-${last}` };
    const { Body, ContentRange, ETag } = await runS3Operation(operation, (client, options) =>
      client.send(new GetObjectCommand(input), options),
    );
    // Some stores and proxies ignore conditions and ranges.
    if (ETag !== undefined && ETag !== etag) throw createError("input-changed", { source });
    if (ContentRange !== `bytes ${position}-${last}/${size}`)
      throw createError("input-download", { source, reason: "the store does not support range requests" });
    try {
      const bytes = await Body!.transformToByteArray();
      if (bytes.length === length) return bytes;
      const reason = `the store announced ${length} bytes and sent ${bytes.length}`;
      throw createError("bucket-unavailable", { address: source, reason });
    } catch (error) {
      throw bucketError(error, operation);
    }
  };
}
