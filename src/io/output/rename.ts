import { rename as renameOnce } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Errors of Windows where another program has a file open: a virus scanner, an indexer, a viewer. */
const lockedCodes = new Set(["EACCES", "EBUSY", "EPERM"]);

/** Pauses between attempts, in milliseconds: 2.5 seconds in all. */
const pauses = [10, 20, 40, 80, 160, 320, 640, 1280];

/** Renames a file; on Windows again for a short time while another program has one of the two files open. */
export async function rename(
  from: string,
  to: string,
  { platform = process.platform as string, renameFile = renameOnce } = {},
): Promise<void> {
  for (const pause of platform === "win32" ? pauses : []) {
    try {
      return await renameFile(from, to);
    } catch (error) {
      if (!lockedCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
      await sleep(pause);
    }
  }
  return renameFile(from, to);
}
