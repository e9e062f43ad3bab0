/**
 * Where rejects go. A file of rejects that an earlier run left there is replaced, so that a run can be repeated night
 * after night; anything else stays, and the run is refused.
 */
import { createReadStream, existsSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fault } from "../errors.js";
import { systemReason } from "../io/source.js";

/** Whether a path is free, or has rejects of an earlier run, by their first line; pipes and devices are always free. @throws input-unreadable */
export async function isFreeForRejects(path: string): Promise<boolean> {
  if (!existsSync(path)) return true;
  const stat = statSync(path);
  if (!stat.isFile()) return !stat.isDirectory();
  if (stat.size === 0) return true;
  const file = createReadStream(path);
  try {
    for await (const line of createInterface({ input: file })) return isReject(line);
    return false;
  } catch (error) {
    throw fault("input-unreadable", { source: path, reason: systemReason(error) }, error);
  } finally {
    file.destroy();
  }
}

function isReject(line: string): boolean {
  try {
    const { type, reject } = JSON.parse(line) as { readonly type?: unknown; readonly reject?: { code?: unknown } };
    return type === "Feature" && typeof reject?.code === "string";
  } catch {
    return false;
  }
}

/** @throws output-exists */
export async function checkRejectsPath(path: string): Promise<void> {
  if (!(await isFreeForRejects(path))) throw fault("output-exists", { output: path, use: "rejects" });
}

/** Removes the rejects of an earlier run, before those of this one are added to the file. @throws output-exists, output-failed */
export async function discardRejects(path: string): Promise<void> {
  await checkRejectsPath(path);
  if (!existsSync(path) || !statSync(path).isFile()) return;
  await rm(path, { force: true }).catch((error: unknown) => {
    throw fault("output-failed", { output: path, reason: systemReason(error) }, error);
  });
}
