/** Planning without applying. */
import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../../errors.js";
import { findUncertainRequests } from "../journal/journal-reader.js";
import type { SyncRequest } from "../request.js";
import type { ReadonlySyncRun } from "../sync-run.js";
import type { PlanMode } from "./plan.js";
import { type PlanDestination, type PreparedSync, prepareSync } from "./prepare-sync.js";

/**
 * Creates a plan without checking guards or sending anything.
 * @param output path of the plan; by default a temporary file, deleted with the run
 * @throws errors of `prepareSync`
 */
export async function planSync(
  request: SyncRequest,
  mode: PlanMode,
  run: ReadonlySyncRun,
  output?: PlanDestination,
): Promise<PreparedSync> {
  await waitForEarlierRequests(run, request.settleTime);
  return prepareSync(request, mode, run, output);
}

/** Waits until requests of an earlier run without a known outcome must have ended, so that the map can be read. */
export async function waitForEarlierRequests(
  { stateFolder, context }: ReadonlySyncRun,
  settleTime: number,
): Promise<void> {
  const uncertain = await findUncertainRequests(stateFolder);
  if (uncertain === null) return;
  const remainingMs = uncertain.since.getTime() + settleTime - Date.now();
  await pause(Math.max(0, Math.min(remainingMs, settleTime)), undefined, { signal: context.host.signal }).catch(() => {
    throw createError("interrupted", {});
  });
}
