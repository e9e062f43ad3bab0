/**
 * A synchronisation: both sides are read and compared into a plan, the plan is held against the guards, and carried out.
 * What dies on the way is finished by running it again.
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

/** Who is told of a plan before it is carried out. */
export interface SyncHooks {
  /** What an earlier run had deleted to create it anew, and left to be finished, was. */
  onInterruptedUpdatesFinished?(earlier: ApplyReport): void;
  /** Before the guards look at it. */
  onPlan(prepared: PreparedSync): void;
  /** Once the guards let it pass; false leaves the map as it is. */
  confirm(prepared: PreparedSync): Promise<boolean>;
  /** Another writer changed the map after it was read: this is what was done until then, and both sides are read again. */
  onConflict?(report: ApplyReport): void;
}

/** What became of a synchronisation. `applied` is null where there was nothing to do, or nothing was to be done. */
export interface SyncResult {
  readonly prepared: PreparedSync | UnchangedSync;
  readonly applied: ApplyReport | null;
}

/**
 * Where another writer changes the map between reading and writing, both sides are read and compared again once the map
 * is quiet; each plan is held against the guards, together with what was done before, and confirmed.
 * @param mode "delete" removes what the source lists
 * @throws what `prepare` and the guards throw: then nothing was sent. What stops it later is in the report
 */
export async function synchronize(
  request: SyncRequest,
  mode: PlanMode,
  run: SyncRun,
  onlooker: SyncHooks,
): Promise<SyncResult> {
  const attempts = new AttemptHistory();
  for (;;) {
    const { prepared, applied } = await attempts.runAttempt(() => runAttempt(request, mode, run, onlooker, attempts));
    if (!applied?.hasConflict) return { prepared, applied: attempts.mergeReport(applied) };
    if (attempts.count >= request.conflictRetries || !isRereadable(request))
      return {
        prepared,
        applied: attempts.mergeReport(attempts.count > 0 ? withContention(applied, attempts, run) : applied),
      };
    await attempts.add(prepared, applied);
    onlooker.onConflict?.(applied);
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
  onlooker: SyncHooks,
  earlierAttempts: AttemptHistory,
): Promise<SyncResult> {
  const rejects = request.source.rejects ?? defaultRejectsPath(request.source.inputs);
  await waitForEarlierRequests(run, request.settleTime);
  // A file of its own: the one of this run is written anew.
  const earlier = await finishInterruptedUpdates(
    createApplyContext(`${run.client.id}-unfinished.rejects.geojsonl`, run),
  );
  if (earlier?.error) throw earlier.error;
  if (earlier) onlooker.onInterruptedUpdatesFinished?.(earlier);
  const prepared = await prepareWithRetries(() => prepareSyncIfChanged(request, mode, run), request, run);
  if (isUnchanged(prepared)) return { prepared, applied: null };
  const { plan, keyChoice } = prepared;
  onlooker.onPlan(prepared);
  checkGuards({ header: plan.header, counts: earlierAttempts.addToCounts(plan.counts) });
  if (isEmptyPlan(plan.counts)) {
    saveSyncedState(prepared, request, mode, run);
    return { prepared, applied: null };
  }
  if (!(await onlooker.confirm(prepared))) return { prepared, applied: null };
  rememberKey(run.state, keyChoice);
  run.state.setSyncedState(hashSettings(request, mode), null);
  const { isAsPlanned, ...applied } = await applyAndUpdateBaseline(plan, rejects, run);
  if (isAsPlanned) run.state.setSyncedState(hashSettings(request, mode), syncedStateOf(prepared, applied.etag));
  return { prepared, applied };
}

/**
 * The plan, which guards have not looked at yet, and nothing sent.
 * @param output where the plan goes; one that is gone with the run where absent
 * @throws what `prepare` throws
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

/** What was done, and whether the map is thereby all that the plan makes of it. */
export interface AppliedPlan extends ApplyReport {
  readonly isAsPlanned: boolean;
}

/** Carries out a plan whose guards let it pass, and keeps what both sides agree on then. */
export async function applyAndUpdateBaseline(plan: OpenPlan, rejects: string, run: SyncRun): Promise<AppliedPlan> {
  const { settings, key } = plan.header;
  const agreed = run.state.openBaseline(hashComparisonSettings(settings, key));
  let isAgreed = false;
  const report = await withSpan("apply", {}, () =>
    applyPlan(plan, {
      ...createApplyContext(rejects, run),
      onMapReread: async (after, record) => {
        isAgreed = await updateBaseline(plan, after, agreed, record);
      },
    }),
  );
  return { ...report, isAsPlanned: isAgreed && isFullyApplied(report) };
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

/** Requests of an earlier run that nobody heard of may still be under way: the map is read when they have ended. */
export async function waitForEarlierRequests(
  { stateFolder, context }: ReadonlySyncRun,
  settleTime: number,
): Promise<void> {
  const doubts = await findUncertainRequests(stateFolder);
  if (doubts === null) return;
  const left = doubts.since.getTime() + settleTime - Date.now();
  await pause(Math.max(0, Math.min(left, settleTime)), undefined, { signal: context.host.signal }).catch(() => {
    throw createError("interrupted", {});
  });
}

/** Both sides are equal as they are: this is kept, so that the next run need not look. */
function saveSyncedState(found: PreparedSync, request: SyncRequest, mode: PlanMode, { state }: SyncRun): void {
  rememberKey(state, found.keyChoice);
  state.setSyncedState(hashSettings(request, mode), syncedStateOf(found, found.snapshot.etag));
}

/** Null where the next run has to look: also where it has rejects to tell of again. */
const syncedStateOf = ({ source }: PreparedSync, etag: string | null): SyncedState | null =>
  etag === null || source.rejects.count > 0 ? null : { etag, source: source.fingerprint };

/** Everything that was planned was done. */
const isFullyApplied = ({ error, failed, unknown, withheld }: ApplyReport): boolean =>
  error === null && withheld === null && failed + unknown === 0;

/** Under this name the state remembers how the service updates nested values. */
const patchSemanticsNote = "patch-manner";

const serviceBehavior = ({ state }: SyncRun): ServiceBehavior => ({
  get patchSemantics() {
    return patchSemantics.find((manner) => manner === state.getNote(patchSemanticsNote)) ?? null;
  },
  savePatchSemantics: (manner) => state.setNote(patchSemanticsNote, manner),
});
