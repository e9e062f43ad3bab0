import { acquireBuffer, releaseBuffer } from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/format.js";
import { defaultSplitBytes } from "./split-size.js";

/** A split of one huge feature is read piece by piece. */
const maxPrefetchBytes = 4 * defaultSplitBytes;

/** The bytes of a split, in memory that `release` takes back; undefined where they are too many. */
export async function readSplitBytes(file: SourceFile, from: number, to: number): Promise<Buffer | undefined> {
  if (to - from > maxPrefetchBytes) return undefined;
  const place = acquireBuffer(to - from);
  const bytes = await file.read(from, to - from, place);
  if (bytes.buffer !== place.buffer) releaseBuffer(place.buffer);
  return bytes;
}

/** Ends the use of what was fetched. */
export function releaseSplitBytes(fetched: Buffer | undefined): void {
  if (fetched) releaseBuffer(fetched.buffer);
}
