/**
 * Features that a service reported as created, and that the map did not show when it was read again. The service may
 * answer from a copy that lags behind, so whoever creates what the map lacks could create them twice.
 */
import { existsSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { syncFolder } from "../../io/output/publish-outputs.js";
import { rename } from "../../io/output/rename.js";
import type { ReadonlySyncRun } from "../sync-run.js";

/** How long such features keep runs from creating any: longer than caches and replicas usually lag behind. */
export const unseenCreatesMs = 60 * 60 * 1000;

interface UnseenHeader {
  /** When the map was read, ISO 8601, UTC. */
  readonly time: string;
}

export const unseenCreatesPath = (stateFolder: string): string => join(stateFolder, "unseen-creates.ndjson");

/** @param ids of the features, in groups; without any, nothing is stored @throws output-failed */
export async function saveUnseenCreates(stateFolder: string, ids: AsyncIterable<readonly string[]>): Promise<void> {
  const path = unseenCreatesPath(stateFolder);
  const temporaryPath = `${path}.new`;
  let count = 0;
  try {
    {
      await using file = await open(temporaryPath, "w", 0o600);
      const header: UnseenHeader = { time: new Date().toISOString() };
      await file.appendFile(`${JSON.stringify(header)}\n`);
      for await (const group of ids) {
        count += group.length;
        if (group.length > 0) await file.appendFile(`${JSON.stringify(group)}\n`);
      }
      await file.sync();
    }
    if (count === 0) return rmSync(temporaryPath, { force: true });
    await rename(temporaryPath, path);
    await syncFolder(stateFolder);
  } catch (error) {
    throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  }
}

/**
 * Stops a run that would compare a source or a backup with a map that still lacks such features.
 * @param workspace with the map as read
 * @throws creates-not-shown, input-unreadable
 */
export async function checkCreatesShown(
  { stateFolder, client }: Pick<ReadonlySyncRun, "stateFolder" | "client">,
  { database }: Workspace,
): Promise<void> {
  const path = unseenCreatesPath(stateFolder);
  if (!existsSync(path)) return;
  const isShown = database.prepare("SELECT 1 FROM map WHERE id = ?");
  let until: Date | null = null;
  let count = 0;
  let example = "";
  try {
    for await (const lines of readTextLines(path))
      for (const { text } of lines) {
        const line = JSON.parse(text) as UnseenHeader | readonly string[];
        if (!isIdGroup(line)) until = new Date(Date.parse(line.time) + unseenCreatesMs);
        else
          for (const id of line)
            if (isShown.get(id) === undefined) {
              count += 1;
              example = id;
            }
      }
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
  if (count === 0 || until === null || until.getTime() <= Date.now()) return;
  const address = { service: client.url, map: client.id };
  throw createError("creates-not-shown", {
    ...address,
    features: count,
    id: example,
    until: until.toISOString(),
    path,
  });
}

const isIdGroup = (line: UnseenHeader | readonly string[]): line is readonly string[] => Array.isArray(line);

/** After the map has shown the features, or can no longer be expected to. */
export function removeUnseenCreates(stateFolder: string): void {
  rmSync(unseenCreatesPath(stateFolder), { force: true });
}
