/**
 * Synchronizes a map: reads and compares both sides into a plan, checks the guards, and applies the plan. Running it
 * again completes an interrupted synchronization.
 */
import { asGeoferryError, createError } from "../errors.js";
import type { ApplyReport } from "./apply/apply-context.js";
import { AttemptHistory, isRereadable, waitForStableMap, withoutChanges } from "./attempt-history.js";
import type { PlanMode } from "./plan/plan.js";
import type { SyncRequest } from "./request.js";
import { runAttempt } from "./run-attempt.js";
import type { SyncHooks, SyncResult } from "./sync-hooks.js";
import type { SyncRun } from "./sync-run.js";

/**
 * Synchronizes. If another writer changes the map between reading and writing, reads and compares both sides again once
 * the map is stable; each plan must pass the guards, together with earlier changes, and be confirmed.
 * @param mode "delete" removes the features that the source lists
 * @throws errors of preparation and guards; then nothing was sent. Later errors are in the report
 */
export async function synchronize(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
  hooks: SyncHooks,
): Promise<SyncResult> {
  const attempts = new AttemptHistory(run.client);
  for (;;) {
    const { prepared, applied } = await attempts.runAttempt(() => runAttempt(request, mode, run, hooks, attempts));
    if (!applied?.hasConflict) return { prepared, applied: attempts.mergeReport(applied) };
    if (attempts.count >= request.conflictRetries || !isRereadable(request))
      return {
        prepared,
        applied: attempts.mergeReport(attempts.count > 0 ? withContention(prepared, applied, attempts, run) : applied),
      };
    await attempts.add(prepared, applied);
    const recorded = withoutChanges(applied);
    hooks.onConflict?.(attempts.mergeReport(recorded) ?? recorded);
    const stop = await waitForStableMap(run, attempts.count).catch(asGeoferryError);
    if (stop) return { prepared, applied: attempts.mergeReport({ ...recorded, error: stop }) };
  }
}

function withContention(
  prepared: SyncResult["prepared"],
  applied: ApplyReport,
  attempts: AttemptHistory,
  { client }: SyncRun,
): ApplyReport {
  const map = { service: client.url, map: client.id, tries: attempts.count + 1 };
  const tag = attempts.hasWritten || applied.hasWritten ? null : attempts.unchangedTag(prepared);
  const error = tag === null ? createError("map-contended", map) : createError("condition-refused", { ...map, tag });
  return { ...applied, error };
}
