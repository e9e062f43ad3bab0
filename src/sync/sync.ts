/**
 * Synchronizes a map: reads and compares both sides into a plan, checks the guards, and applies the plan. Running it
 * again completes an interrupted synchronization.
 */
import { setTimeout as pause } from "node:timers/promises";
import { asGeoferryError, createError } from "../errors.js";
import { withSpan } from "../tracing/span.js";
import type { ApplyContext, ApplyReport, ServiceBehavior } from "./apply/apply-context.js";
import { applyPlan, finishInterruptedUpdates } from "./apply/apply-plan.js";
import { patchSemantics } from "./apply/patch-semantics.js";
import { AttemptHistory, isRereadable, prepareWithRetries, waitForStableMap } from "./attempt-history.js";
import { defaultBackupFolder, findFreeBackupPath } from "./journal/backup.js";
import { findUncertainRequests } from "./journal/journal-reader.js";
import { checkGuards } from "./plan/guards.js";
import { isEmptyPlan, type OpenPlan, type PlanMode } from "./plan/plan.js";
import {
  hashComparisonSettings,
  hashSettings,
  isUnchanged,
  type PlanDestination,
  type PreparedSync,
  prepareSync,
  prepareSyncIfChanged,
  rememberKey,
  type UnchangedSync,
} from "./plan/prepare-sync.js";
import type { SyncRequest } from "./request.js";
import { defaultRejectsPath } from "./source/source-rejects.js";
import type { SyncedState } from "./state/map-state.js";
import { updateBaseline } from "./state/update-baseline.js";
import type { ReadonlySyncRun, SyncRun } from "./sync-run.js";

/** Callbacks during a synchronization. */
export interface SyncHooks {
  /** Called after features were recreated that an interrupted run had deleted. */
  onInterruptedUpdatesFinished?(earlier: ApplyReport): void;
  /** Called before the guards check the plan. */
  onPlan(prepared: PreparedSync): void;
  /** Called after the guards pass; false leaves the map unchanged. */
  confirm(prepared: PreparedSync): Promise<boolean>;
  /**
   * Called when another writer changed the map after it was read, with the changes so far; both sides are then read
   * again.
   */
  onConflict?(report: ApplyReport): void;
}

/** The result of a synchronization. `applied` is null if there was nothing to do or the user did not confirm. */
export interface SyncResult {
  readonly prepared: PreparedSync | UnchangedSync;
  readonly applied: ApplyReport | null;
}

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
  const attempts = new AttemptHistory();
  for (;;) {
    const { prepared, applied } = await attempts.runAttempt(() => runAttempt(request, mode, run, hooks, attempts));
    if (!applied?.hasConflict) return { prepared, applied: attempts.mergeReport(applied) };
    if (attempts.count >= request.conflictRetries || !isRereadable(request))
      return {
        prepared,
        applied: attempts.mergeReport(attempts.count > 0 ? withContention(applied, attempts, run) : applied),
      };
    await attempts.add(prepared, applied);
    hooks.onConflict?.(applied);
    const stop = await waitForStableMap(run, attempts.count).catch(asGeoferryError);
    if (stop) return { prepared, applied: attempts.mergeReport({ ...applied, error: stop }) };
  }
}

const withContention = (applied: ApplyReport, { count }: AttemptHistory, { client }: SyncRun): ApplyReport => ({
  ...applied,
  error: createError("map-contended", { service: client.url, map: client.id, tries: count + 1 }),
});

async function runAttempt(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
  hooks: SyncHooks,
  earlierAttempts: AttemptHistory,
): Promise<SyncResult> {
  const rejects = request.source.rejects ?? defaultRejectsPath(request.source.inputs);
  await waitForEarlierRequests(run, request.settleTime);
  // A separate file, since this run replaces its own rejects file.
  const earlier = await finishInterruptedUpdates(
    createApplyContext(`${run.client.id}-unfinished.rejects.geojsonl`, run),
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
  const { isAsPlanned, ...applied } = await applyAndUpdateBaseline(plan, rejects, run);
  if (isAsPlanned) run.state.setSyncedState(hashSettings(request, mode), syncedStateOf(prepared, applied.etag));
  return { prepared, applied };
}

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

/** The report, and whether the map is exactly as planned. */
export interface AppliedPlan extends ApplyReport {
  readonly isAsPlanned: boolean;
}

/** Applies a plan that has passed the guards, and updates the baseline. */
export async function applyAndUpdateBaseline(plan: OpenPlan, rejects: string, run: SyncRun): Promise<AppliedPlan> {
  const { settings, key } = plan.header;
  const baseline = run.state.openBaseline(hashComparisonSettings(settings, key));
  let isAsPlanned = false;
  const report = await withSpan("apply", {}, () =>
    applyPlan(plan, {
      ...createApplyContext(rejects, run),
      onMapReread: async (after, record) => {
        isAsPlanned = await updateBaseline(plan, after, baseline, record);
      },
    }),
  );
  return { ...report, isAsPlanned: isAsPlanned && isFullyApplied(report) };
}

function createApplyContext(rejectsPath: string, run: SyncRun): ApplyContext {
  const { context, client, spool, stateFolder } = run;
  return {
    client,
    spool,
    stateFolder,
    serviceBehavior: serviceBehavior(run),
    traffic: context.traffic,
    signal: context.host.signal,
    backupPath: findFreeBackupPath(context.backupPath ?? defaultBackupFolder(stateFolder), client.id, context.host.now),
    rejectsPath,
    ...(context.onApplyProgress ? { onProgress: context.onApplyProgress } : {}),
  };
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

/** Records that both sides are equal, so that the next run can skip the comparison. */
function saveSyncedState(found: PreparedSync, request: SyncRequest, mode: PlanMode, { state }: SyncRun): void {
  rememberKey(state, found.keyChoice);
  state.setSyncedState(hashSettings(request, mode), syncedStateOf(found, found.snapshot.etag));
}

/** Null if the next run must compare, including when it must report rejects again. */
const syncedStateOf = ({ source }: PreparedSync, etag: string | null): SyncedState | null =>
  etag === null || source.rejects.count > 0 ? null : { etag, source: source.fingerprint };

/** Whether the plan was completely applied. */
const isFullyApplied = ({ error, failed, unknown, withheld }: ApplyReport): boolean =>
  error === null && withheld === null && failed + unknown === 0;

/** Name of the state note about how the service updates nested values. */
const patchSemanticsNote = "patch-manner";

const serviceBehavior = ({ state }: SyncRun): ServiceBehavior => ({
  get patchSemantics() {
    return patchSemantics.find((semantics) => semantics === state.getNote(patchSemanticsNote)) ?? null;
  },
  savePatchSemantics: (semantics) => state.setNote(patchSemanticsNote, semantics),
});
