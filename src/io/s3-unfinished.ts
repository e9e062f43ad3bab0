/**
 * Uploads in parts that were begun and not ended, noted in the folder for temporary files: nobody sees them, but their
 * owner pays for them. Those of a run that was killed are taken back by the next one of the same user and machine.
 */
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AbortMultipartUploadCommand } from "@aws-sdk/client-s3";
import { isAbandoned, markPattern, newMark } from "./leftovers.js";
import type { BucketAddress } from "./s3-address.js";
import { ask, ownEndpoint } from "./s3-client.js";

export interface UnfinishedUpload extends BucketAddress {
  readonly id: string;
}

const fileName = new RegExp(`^geoferry-(${markPattern})\\.uploads$`);
const ownFile = join(tmpdir(), `geoferry-${newMark()}.uploads`);
const unfinished = new Set<string>();

/** Before the first part is sent. */
export function noteUpload(upload: UnfinishedUpload): void {
  unfinished.add(upload.id);
  try {
    appendFileSync(ownFile, `${JSON.stringify({ ...upload, endpoint: ownEndpoint(process.env) })}\n`, { mode: 0o600 });
  } catch {
    // A rule of the bucket's own removes it in the end.
  }
}

/** It was completed or taken back. */
export function forgetUpload(id: string): void {
  unfinished.delete(id);
  if (unfinished.size === 0) rmSync(ownFile, { force: true });
}

let swept = false;

/** Takes back what killed runs of this user have begun, as far as it can be; once a process. */
export async function sweepUploads(signal: AbortSignal): Promise<void> {
  if (swept) return;
  swept = true;
  for (const name of readdirSync(tmpdir())) {
    const mark = fileName.exec(name)?.[1];
    const path = join(tmpdir(), name);
    const stat = mark === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    if (!mark || !stat || stat.uid !== process.getuid?.() || !isAbandoned(mark, stat.mtimeMs)) continue;
    if (await takeBack(path, signal)) rmSync(path, { force: true });
  }
}

/** Of another run that sweeps at the same time nothing may be left. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** @returns whether nothing is left of them */
async function takeBack(path: string, signal: AbortSignal): Promise<boolean> {
  let all = true;
  for (const line of linesOf(path)) {
    try {
      const upload = JSON.parse(line) as UnfinishedUpload & { readonly endpoint: string };
      const { bucket, key, id } = upload;
      if (upload.endpoint !== ownEndpoint(process.env)) all = false;
      else
        await ask({ bucket, key, use: "read", signal }, (client, options) =>
          client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id }), options),
        );
    } catch (error) {
      // It was completed or taken back before; or the next run tries again.
      if ((error as { code?: unknown }).code !== "input-missing" && !(error instanceof SyntaxError)) all = false;
    }
  }
  return all;
}
