/** Reads and writes of temporary files that transfer all bytes. */
import { readSync, writeSync } from "node:fs";
import { createError } from "../errors.js";

/** @throws internal if the file is shorter */
export function readFully(handle: number, start: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length; ) {
    const read = readSync(handle, bytes, done, length - done, start + done);
    if (read === 0) throw createError("internal", { reason: `a temporary file ends before byte ${start + length}` });
    done += read;
  }
  return bytes;
}

export function writeFully(handle: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
}
