import { borrow, giveBack } from "../../src/model/index.js";
import type { SourceFile } from "../../src/plugin/format.js";
import { splitBytes } from "./split-size.js";

/** A split of one huge feature is read piece by piece. */
const most = 4 * splitBytes;

/** The bytes of a split, in memory that `release` takes back; undefined where they are too many. */
export async function fetchSplit(file: SourceFile, from: number, to: number): Promise<Buffer | undefined> {
  if (to - from > most) return undefined;
  const place = borrow(to - from);
  const bytes = await file.read(from, to - from, place);
  if (bytes.buffer !== place.buffer) giveBack(place.buffer);
  return bytes;
}

/** Ends the use of what was fetched. */
export function release(fetched: Buffer | undefined): void {
  if (fetched) giveBack(fetched.buffer);
}
