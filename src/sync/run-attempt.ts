/** One attempt of a synchronization: read both sides, diff, plan, check the guards, apply. */
import { applyAndUpdateBaseline, createApplyContext } from "./apply/apply-and-update-baseline.js";
import { finishInterruptedUpdates } from "./apply/apply-plan.js";
import { type AttemptHistory, prepareWithRetries } from "./attempt-history.js";
import { waitForEarlierRequests } from "./journal/wait-for-earlier-requests.js";
import { checkGuards } from "./plan/guards.js";
import { isEmptyPlan, type PlanMode } from "./plan/plan.js";
import {
  hashSettings,
  isUnchanged,
  type PreparedSync,
  prepareSyncIfChanged,
  rememberKey,
} from "./plan/prepare-sync.js";
import type { SyncRequest } from "./request.js";
import { rejectsFileOf } from "./source/rejects-path.js";
import type { SyncedState } from "./state/map-state.js";
import type { SyncHooks, SyncResult } from "./sync-hooks.js";
import type { SyncRun } from "./sync-run.js";

/** @throws errors of preparation and guards; later errors are in the report */
export async function runAttempt(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
  hooks: SyncHooks,
  earlierAttempts: AttemptHistory,
): Promise<SyncResult> {
  const { url, id } = run.client;
  await waitForEarlierRequests(run, request.settleTime);
  // A separate file, since this run replaces its own rejects file.
  const earlier = await finishInterruptedUpdates(
    createApplyContext(rejectsFileOf(`${id}-unfinished.rejects.geojsonl`, url, id), run),
  );
  if (earlier?.error) throw earlier.error;
  if (earlier) hooks.onInterruptedUpdatesFinished?.(earlier);
  const prepared = await prepareWithRetries(() => prepareSyncIfChanged(request, mode, run), request, run);
  if (isUnchanged(prepared)) return { prepared, applied: null };
  const { plan, keyChoice } = prepared;
  hooks.onPlan(prepared);
  checkGuards({ header: plan.header, counts: earlierAttempts.addToCounts(plan.counts) });
  if (isEmptyPlan(plan.counts)) {
    saveSyncedState(prepared, request, mode, run);
    return { prepared, applied: null };
  }
  if (!(await hooks.confirm(prepared))) return { prepared, applied: null };
  rememberKey(run.state, keyChoice);
  run.state.setSyncedState(hashSettings(request, mode), null);
  const { isAsPlanned, ...applied } = await applyAndUpdateBaseline(plan, prepared.source.rejects.file, run);
  if (isAsPlanned) run.state.setSyncedState(hashSettings(request, mode), syncedStateOf(prepared, applied.etag));
  return { prepared, applied };
}

/** Records that both sides are equal, so that the next run can skip the comparison. */
function saveSyncedState(found: PreparedSync, request: SyncRequest, mode: PlanMode, { state }: SyncRun): void {
  rememberKey(state, found.keyChoice);
  state.setSyncedState(hashSettings(request, mode), syncedStateOf(found, found.snapshot.etag));
}

/** Null if the next run must compare, including when it must report rejects again. */
const syncedStateOf = ({ source }: PreparedSync, etag: string | null): SyncedState | null =>
  etag === null || source.rejects.count > 0 ? null : { etag, source: source.fingerprint };
