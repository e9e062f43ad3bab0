import { acquireBuffer, releaseBuffer } from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/format.js";
import { defaultSplitBytes } from "./split-size.js";

/** A larger split, for example of one huge feature, is read in chunks. */
const maxPrefetchBytes = 4 * defaultSplitBytes;

/** Reads a split into memory that `releaseSplitBytes` returns; undefined if it is too large. */
export async function readSplitBytes(file: SourceFile, from: number, to: number): Promise<Buffer | undefined> {
  if (to - from > maxPrefetchBytes) return undefined;
  const place = acquireBuffer(to - from);
  const bytes = await file.read(from, to - from, place);
  if (bytes.buffer !== place.buffer) releaseBuffer(place.buffer);
  return bytes;
}

/** Returns the memory of a fetched split. */
export function releaseSplitBytes(fetched: Buffer | undefined): void {
  if (fetched) releaseBuffer(fetched.buffer);
}
