/**
 * Validates the path of the rejects file. Rejects of an earlier run are replaced, so that scheduled runs can repeat;
 * any other file is kept, and the run fails.
 */
import { createReadStream, existsSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";

/**
 * Whether a path is unused or contains rejects of an earlier run, judging by its first line; pipes and devices are
 * always usable. @throws input-unreadable
 */
export async function canWriteRejects(path: string): Promise<boolean> {
  if (!existsSync(path)) return true;
  const stat = statSync(path);
  if (!stat.isFile()) return !stat.isDirectory();
  if (stat.size === 0) return true;
  const file = createReadStream(path);
  try {
    for await (const line of createInterface({ input: file })) return isRejectLine(line);
    return false;
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  } finally {
    file.destroy();
  }
}

function isRejectLine(line: string): boolean {
  try {
    const { type, reject } = JSON.parse(line) as { readonly type?: unknown; readonly reject?: { code?: unknown } };
    return type === "Feature" && typeof reject?.code === "string";
  } catch {
    return false;
  }
}

/** @throws output-exists */
export async function checkRejectsPath(path: string): Promise<void> {
  if (!(await canWriteRejects(path))) throw createError("output-exists", { output: path, use: "rejects" });
}

/** Removes the rejects of an earlier run before this run appends to the file. @throws output-exists, output-failed */
export async function removeOldRejects(path: string): Promise<void> {
  await checkRejectsPath(path);
  if (!existsSync(path) || !statSync(path).isFile()) return;
  await rm(path, { force: true }).catch((error: unknown) => {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  });
}
