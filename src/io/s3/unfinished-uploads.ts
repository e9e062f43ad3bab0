/**
 * Records unfinished multipart uploads in the folder for temporary files: they are invisible, but their owner pays for
 * them. The next run of the same user on the same machine aborts those of a killed run.
 */
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AbortMultipartUploadCommand } from "@aws-sdk/client-s3";
import { isAbandoned, markPattern, newMark } from "../output/abandoned-files.js";
import type { BucketAddress } from "./bucket-address.js";
import { customEndpoint, runS3Operation } from "./s3-client.js";

export interface UnfinishedUpload extends BucketAddress {
  readonly id: string;
}

const uploadLogName = new RegExp(`^geoferry-(${markPattern})\\.uploads$`);
const uploadLogPath = join(tmpdir(), `geoferry-${newMark()}.uploads`);
const unfinishedUploads = new Set<string>();

/** To be called before the first part is sent. */
export function recordUpload(upload: UnfinishedUpload): void {
  unfinishedUploads.add(upload.id);
  try {
    appendFileSync(uploadLogPath, `${JSON.stringify({ ...upload, endpoint: customEndpoint(process.env) })}\n`, {
      mode: 0o600,
    });
  } catch {
    // Without the record, only a lifecycle rule of the bucket can remove an abandoned upload.
  }
}

/** To be called when the upload was completed or aborted. */
export function removeUploadRecord(id: string): void {
  unfinishedUploads.delete(id);
  if (unfinishedUploads.size === 0) rmSync(uploadLogPath, { force: true });
}

let hasSwept = false;

/** Aborts uploads of killed runs of this user as far as possible; once per process. */
export async function abortAbandonedUploads(signal: AbortSignal): Promise<void> {
  if (hasSwept) return;
  hasSwept = true;
  for (const name of readdirSync(tmpdir())) {
    const mark = uploadLogName.exec(name)?.[1];
    const path = join(tmpdir(), name);
    const stat = mark === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    if (!mark || !stat || stat.uid !== process.getuid?.() || !isAbandoned(mark, stat.mtimeMs)) continue;
    if (await abortLoggedUploads(path, signal)) rmSync(path, { force: true });
  }
}

/** Empty if another run has just removed the file. */
function readUploadLog(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** @returns whether all uploads in the file were aborted or are gone */
async function abortLoggedUploads(path: string, signal: AbortSignal): Promise<boolean> {
  let all = true;
  for (const line of readUploadLog(path)) {
    try {
      const upload = JSON.parse(line) as UnfinishedUpload & { readonly endpoint: string };
      const { bucket, key, id } = upload;
      if (upload.endpoint !== customEndpoint(process.env)) all = false;
      else
        await runS3Operation({ bucket, key, purpose: "read", signal }, (client, options) =>
          client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id }), options),
        );
    } catch (error) {
      // A missing upload was completed or aborted before; after other errors, the next run tries again.
      if ((error as { code?: unknown }).code !== "input-missing" && !(error instanceof SyntaxError)) all = false;
    }
  }
  return all;
}
