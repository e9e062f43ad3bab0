/** Uploads one file to a bucket: large files in parts, which are invisible before `complete`. */
import { type FileHandle, open } from "node:fs/promises";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import pLimit from "p-limit";
import { createError, GeoferryError } from "../../errors.js";
import { mediaTypeOf } from "../http/media-types.js";
import { describeSystemError } from "../input/source.js";
import { type BucketAddress, formatBucketAddress } from "./bucket-address.js";
import { headObject, type StoredObject, writeIdKey } from "./list-objects.js";
import { runS3Operation, type S3Operation, toS3Failure } from "./s3-client.js";
import { recordUpload, removeUploadRecord } from "./unfinished-uploads.js";

/** Bytes of a part. Stores allow 10,000 parts of at least 5 MiB, except the last one. */
const minPartBytes = 8 << 20;
const maxParts = 10_000;

/** Limits the concurrent parts of all uploads of the process, which are held in memory. */
const partLimiter = pLimit(4);

/** The object that must exist when an upload is completed, and is replaced; null if none may exist. */
export type ExpectedObject = StoredObject | null;

interface WriteCondition {
  readonly IfMatch?: string;
  readonly IfNoneMatch?: "*";
}

const neverAborted = new AbortController().signal;

export class Upload {
  private id: string | undefined;
  private readonly parts: { PartNumber: number; ETag: string | undefined }[] = [];

  /** @param writeId identifies this write in the metadata of the object */
  constructor(
    readonly to: BucketAddress,
    private readonly path: string,
    readonly size: number,
    private readonly writeId: string,
  ) {}

  /** Larger for files that would have too many parts. */
  private get partSize(): number {
    return Math.max(minPartBytes, Math.ceil(this.size / maxParts / minPartBytes) * minPartBytes);
  }

  private operation(signal: AbortSignal): S3Operation {
    return { ...this.to, purpose: "write", signal };
  }

  private get target(): { Bucket: string; Key: string } {
    return { Bucket: this.to.bucket, Key: this.to.key };
  }

  private get objectMetadata(): { Metadata: Record<string, string>; ContentType: string } {
    return { Metadata: { [writeIdKey]: this.writeId }, ContentType: mediaTypeOf(this.to.key) };
  }

  /** Sends the parts of a large file. @throws bucket-forbidden, bucket-unavailable, output-failed, interrupted */
  async send(signal: AbortSignal): Promise<void> {
    const { size, partSize } = this;
    if (size <= partSize) return;
    const started = await runS3Operation(this.operation(signal), (client, options) =>
      client.send(new CreateMultipartUploadCommand({ ...this.target, ...this.objectMetadata }), options),
    );
    this.id = started.UploadId;
    recordUpload({ ...this.to, id: this.id! });
    const file = await this.open();
    const failed = new AbortController();
    const stopped = AbortSignal.any([signal, failed.signal]);
    const sendOne = async (number: number): Promise<void> => {
      try {
        stopped.throwIfAborted();
        const start = (number - 1) * partSize;
        const Body = await this.read(file, start, Math.min(partSize, size - start));
        const input = { ...this.target, UploadId: this.id, PartNumber: number, Body };
        const { ETag } = await runS3Operation(this.operation(stopped), (client, options) =>
          client.send(new UploadPartCommand(input), options),
        );
        this.parts[number - 1] = { PartNumber: number, ETag };
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    };
    try {
      const numbers = Array.from({ length: Math.ceil(size / partSize) }, (_, index) => index + 1);
      await Promise.allSettled(numbers.map((number) => partLimiter(() => sendOne(number))));
      if (signal.aborted) throw createError("interrupted", {}, signal.reason);
      failed.signal.throwIfAborted();
    } finally {
      await file.close();
    }
  }

  /**
   * Makes the object visible if the current object is the expected one. For stores without conditional writes, this is
   * only checked just before.
   * @returns whether the store supports conditions; if not, a simultaneous write of another program may be lost
   * @throws output-exists, output-failed, upload-outcome-unknown, bucket-forbidden, bucket-unavailable
   */
  async complete(expected: ExpectedObject): Promise<boolean> {
    await checkCurrentObject(this.to, expected);
    let refused: unknown;
    for (const condition of conditionsFor(expected)) {
      try {
        await this.name(condition);
        this.onPartDone();
        return Object.keys(condition).length > 0;
      } catch (error) {
        const isRefused = isConditionFailure(error);
        if (!isRefused && !isUnconfirmed(error)) throw error;
        // The object was written, but the response was lost.
        if (await this.isWritten(error)) {
          this.onPartDone();
          return Object.keys(condition).length > 0;
        }
        if (!isRefused) throw error;
        // If the object is as expected, the store does not support the condition.
        await checkCurrentObject(this.to, expected);
        refused = error;
      }
    }
    throw refused;
  }

  /**
   * Whether the current object is the one of this write.
   * @param error of the request that should have written it
   * @throws upload-outcome-unknown if the response was lost and the store does not answer
   */
  private async isWritten(error: unknown): Promise<boolean> {
    try {
      return (await headObject(this.to, neverAborted))?.writing === this.writeId;
    } catch (failure) {
      if (!isUnconfirmed(error)) throw failure;
      const { reason } = toS3Failure((error as GeoferryError).cause ?? error);
      throw createError("upload-outcome-unknown", { output: formatBucketAddress(this.to), reason }, error);
    }
  }

  private async name(condition: WriteCondition): Promise<void> {
    const operation = this.operation(neverAborted);
    const input = { ...this.target, ...condition };
    if (this.id === undefined) {
      const Body = await this.uploadWhole();
      await runS3Operation(operation, (client) =>
        client.send(new PutObjectCommand({ ...input, ...this.objectMetadata, Body })),
      );
    } else {
      const completed = { ...input, UploadId: this.id, MultipartUpload: { Parts: this.parts } };
      await runS3Operation(operation, (client) => client.send(new CompleteMultipartUploadCommand(completed)));
    }
  }

  private onPartDone(): void {
    if (this.id !== undefined) removeUploadRecord(this.id);
    this.id = undefined;
  }

  /** Aborts the upload if possible. A completed object is kept. */
  async abort(): Promise<void> {
    if (this.id === undefined) return;
    const input = { ...this.target, UploadId: this.id };
    const sent = await runS3Operation(this.operation(neverAborted), (client, options) =>
      client.send(new AbortMultipartUploadCommand(input), options),
    ).catch(() => null);
    // If this fails, the next run aborts the upload.
    if (sent) removeUploadRecord(this.id);
    this.id = undefined;
  }

  private async uploadWhole(): Promise<Buffer> {
    const file = await this.open();
    try {
      return await this.read(file, 0, this.size);
    } finally {
      await file.close();
    }
  }

  private async open(): Promise<FileHandle> {
    try {
      return await open(this.path, "r");
    } catch (error) {
      throw createError(
        "output-failed",
        { output: formatBucketAddress(this.to), reason: describeSystemError(error) },
        error,
      );
    }
  }

  private async read(file: FileHandle, start: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let filled = 0; filled < length; ) {
      const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
      if (bytesRead === 0)
        throw createError("output-failed", {
          output: formatBucketAddress(this.to),
          reason: "its temporary file was truncated",
        });
      filled += bytesRead;
    }
    return bytes;
  }
}

/** @throws output-exists, output-failed if the current object is not the expected one */
export async function checkCurrentObject(
  at: BucketAddress,
  expected: ExpectedObject,
  signal: AbortSignal = neverAborted,
): Promise<void> {
  const now = await headObject(at, signal);
  if ((now?.etag ?? null) === (expected?.etag ?? null)) return;
  const output = formatBucketAddress(at);
  throw expected === null && now !== null
    ? createError("output-exists", { output })
    : createError("output-failed", { output, reason: "another program has changed it since it was read" });
}

/**
 * Whether a store refused a condition: 412 if it is not met, 409 if another write is in progress, 501 if the store does
 * not support it (RFC 9110, 13); or 404 if the upload was completed before.
 */
export const isConditionFailure = (error: unknown): boolean =>
  error instanceof GeoferryError && [404, 409, 412, 501].includes(toS3Failure(error.cause ?? error).status ?? 0);

/** Whether a store may have carried out a request whose last attempt failed: no response, or a server error. */
const isUnconfirmed = (error: unknown): boolean =>
  error instanceof GeoferryError && error.code === "bucket-unavailable";

/** The conditions to try in order; some stores compare ETags without quotes, others support no condition. */
function conditionsFor(expected: ExpectedObject): readonly WriteCondition[] {
  if (expected === null) return [{ IfNoneMatch: "*" }, {}];
  return [{ IfMatch: expected.etag }, { IfMatch: expected.etag.replaceAll('"', "") }, {}];
}
