/**
 * Stores features on disk before they are deleted and recreated, when no other complete copy exists. If a run is
 * interrupted in between, the next one recreates them.
 */
import { existsSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { syncFolder } from "../../io/output/publish-outputs.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { Update } from "../apply/patch-semantics.js";
import { parseAction } from "../plan/parse-action.js";
import type { OpenPlan, PlanHeader } from "../plan/plan.js";
import { createCounts } from "../plan/plan-writer.js";

const recreationsPath = (folder: string): string => join(folder, "recreate.ndjson");

async function wrapWriteErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  }
}

/** Stores the features to recreate, replacing earlier ones. @throws output-failed */
export async function saveRecreations(folder: string, header: PlanHeader, updates: readonly Update[]): Promise<void> {
  const path = recreationsPath(folder);
  await wrapWriteErrors(path, async () => {
    await using file = await open(path, "w", 0o600);
    await file.appendFile(`${JSON.stringify(header)}\n`);
    for (const update of updates) await file.appendFile(`${stringifyExactly(update)}\n`);
    await file.sync();
    await syncFolder(folder);
  });
}

/** Removes the stored features after all are on the map again. @throws output-failed */
export async function removeRecreations(folder: string): Promise<void> {
  const path = recreationsPath(folder);
  await wrapWriteErrors(path, () => rm(path, { force: true }));
}

/**
 * Opens the recreations of an interrupted run as a plan of these updates only. Ignores a truncated line, whose feature
 * was not deleted yet.
 * @returns null if there are none; otherwise at most as many as one request can contain
 * @throws input-unreadable
 */
export async function openRecreations(folder: string): Promise<OpenPlan | null> {
  const path = recreationsPath(folder);
  if (!existsSync(path)) return null;
  const lines: unknown[] = [];
  try {
    for await (const group of readTextLines(path)) lines.push(...group.map(({ text }) => parse(text)));
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
  const [header, ...updates] = lines as [PlanHeader | null, ...(Update | null)[]];
  const complete = updates.filter((update) => update !== null);
  if (!header || complete.length === 0) return null;
  return {
    path,
    header: { ...header, put: false },
    counts: { ...createCounts(), update: complete.length },
    async *actions(kinds = ["update"]) {
      if (kinds.includes("update")) yield* complete;
    },
  };
}

function parse(line: string): unknown {
  try {
    return parseAction(line);
  } catch {
    return null;
  }
}
