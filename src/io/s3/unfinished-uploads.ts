/**
 * Uploads in parts that were begun and not ended, noted in the folder for temporary files: no one sees them, but their
 * owner pays for them. Those of a run that was killed are taken back by the next one of the same user and machine.
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

/** Before the first part is sent. */
export function recordUpload(upload: UnfinishedUpload): void {
  unfinishedUploads.add(upload.id);
  try {
    appendFileSync(uploadLogPath, `${JSON.stringify({ ...upload, endpoint: customEndpoint(process.env) })}\n`, {
      mode: 0o600,
    });
  } catch {
    // A rule of the bucket's own removes it in the end.
  }
}

/** It was completed or taken back. */
export function removeUploadRecord(id: string): void {
  unfinishedUploads.delete(id);
  if (unfinishedUploads.size === 0) rmSync(uploadLogPath, { force: true });
}

let hasSwept = false;

/** Takes back what killed runs of this user have begun, as far as it can be; once a process. */
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

/** Of another run that sweeps at the same time nothing may be left. */
function readUploadLog(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** @returns whether nothing is left of them */
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
      // It was completed or taken back before; or the next run tries again.
      if ((error as { code?: unknown }).code !== "input-missing" && !(error instanceof SyntaxError)) all = false;
    }
  }
  return all;
}
