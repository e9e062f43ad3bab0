/** Checks the path of the rejects file of a sync. */
import { existsSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { canWriteRejects } from "../../pipeline/write/earlier-rejects.js";

/** @throws output-exists, input-unreadable */
export function checkRejectsPath(path: string): void {
  if (!canWriteRejects(path)) throw createError("output-exists", { output: path, use: "rejects" });
}

/** Removes the rejects of an earlier run before this run appends to the file. @throws output-exists, output-failed */
export async function removeOldRejects(path: string): Promise<void> {
  checkRejectsPath(path);
  if (!existsSync(path) || !statSync(path).isFile()) return;
  await rm(path, { force: true }).catch((error: unknown) => {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  });
}
