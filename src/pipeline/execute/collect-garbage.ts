import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The number of fields from which the objects that describe them are worth a collection: some 50 MB. */
const minFields = 1 << 14;
let collect: (() => void) | null = null;

/**
 * Frees the objects that a finished phase made for each of very many fields. The engine waits until its heap has
 * doubled several times, so that without this call the garbage of the scan is still there while features are read.
 */
export function collectGarbage(fields: number): void {
  if (fields < minFields) return;
  if (!collect) {
    // The function exists only in contexts that are created after the flag is set.
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
