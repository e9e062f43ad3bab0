import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../../errors.js";
import type { ReadonlySyncRun } from "../sync-run.js";
import { findUncertainRequests } from "./journal-reader.js";

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
