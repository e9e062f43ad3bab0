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
import { findFreeBackupPath } from "./journal/backup.js";
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
  onFinished?(earlier: ApplyReport): void;
  /** Before the guards look at it. */
  onPlan(prepared: PreparedSync): void;
  /** Once the guards let it pass; false leaves the map as it is. */
  confirm(prepared: PreparedSync): Promise<boolean>;
  /** Another writer changed the map after it was read: this is what was done until then, and both sides are read again. */
  onOvertaken?(report: ApplyReport): void;
}

/** What became of a synchronisation. `applied` is null where there was nothing to do, or nothing was to be done. */
export interface SyncResult {
  readonly found: PreparedSync | UnchangedSync;
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
    const { found, applied } = await attempts.after(() => runAttempt(request, mode, run, onlooker, attempts));
    if (!applied?.overtaken) return { found, applied: attempts.with(applied) };
    if (attempts.count >= request.conflictRetries || !isRereadable(request))
      return { found, applied: attempts.with(attempts.count > 0 ? withContention(applied, attempts, run) : applied) };
    await attempts.add(found, applied);
    onlooker.onOvertaken?.(applied);
    const stop = await waitForStableMap(run, attempts.count).catch(asGeoferryError);
    if (stop) return { found, applied: attempts.with({ ...applied, ending: stop }) };
  }
}

const withContention = (applied: ApplyReport, { count }: AttemptHistory, { client }: SyncRun): ApplyReport => ({
  ...applied,
  ending: createError("map-contended", { service: client.url, map: client.id, tries: count + 1 }),
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
  if (earlier?.ending) throw earlier.ending;
  if (earlier) onlooker.onFinished?.(earlier);
  const found = await prepareWithRetries(() => prepareSyncIfChanged(request, mode, run), request, run);
  if (isUnchanged(found)) return { found, applied: null };
  const { plan, choice } = found;
  onlooker.onPlan(found);
  checkGuards({ header: plan.header, counts: earlierAttempts.together(plan.counts) });
  if (isEmptyPlan(plan.counts)) {
    saveSyncedState(found, request, mode, run);
    return { found, applied: null };
  }
  if (!(await onlooker.confirm(found))) return { found, applied: null };
  rememberKey(run.state, choice);
  run.state.settle(hashSettings(request, mode), null);
  const { asPlanned, ...applied } = await applyAndUpdateBaseline(plan, rejects, run);
  if (asPlanned) run.state.settle(hashSettings(request, mode), syncedStateOf(found, applied.etag));
  return { found, applied };
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
  readonly asPlanned: boolean;
}

/** Carries out a plan whose guards let it pass, and keeps what both sides agree on then. */
export async function applyAndUpdateBaseline(plan: OpenPlan, rejects: string, run: SyncRun): Promise<AppliedPlan> {
  const { settings, key } = plan.header;
  const agreed = run.state.compared(hashComparisonSettings(settings, key));
  let isAgreed = false;
  const report = await withSpan("apply", {}, () =>
    applyPlan(plan, {
      ...createApplyContext(rejects, run),
      onReadBack: async (after, record) => {
        isAgreed = await updateBaseline(plan, after, agreed, record);
      },
    }),
  );
  return { ...report, asPlanned: isAgreed && isFullyApplied(report) };
}

function createApplyContext(rejects: string, run: SyncRun): ApplyContext {
  const { tools, client, spool, folder } = run;
  return {
    client,
    spool,
    folder,
    memory: serviceBehavior(run),
    traffic: tools.traffic,
    signal: tools.host.signal,
    backup: findFreeBackupPath(tools.backup ?? ".", client.id, tools.host.now),
    rejects,
    ...(tools.onApply ? { onProgress: tools.onApply } : {}),
  };
}

/** Requests of an earlier run that nobody heard of may still be under way: the map is read when they have ended. */
export async function waitForEarlierRequests({ folder, tools }: ReadonlySyncRun, settleTime: number): Promise<void> {
  const doubts = await findUncertainRequests(folder);
  if (doubts === null) return;
  const left = doubts.since.getTime() + settleTime - Date.now();
  await pause(Math.max(0, Math.min(left, settleTime)), undefined, { signal: tools.host.signal }).catch(() => {
    throw createError("interrupted", {});
  });
}

/** Both sides are equal as they are: this is kept, so that the next run need not look. */
function saveSyncedState(found: PreparedSync, request: SyncRequest, mode: PlanMode, { state }: SyncRun): void {
  rememberKey(state, found.choice);
  state.settle(hashSettings(request, mode), syncedStateOf(found, found.snapshot.etag));
}

/** Null where the next run has to look: also where it has rejects to tell of again. */
const syncedStateOf = ({ source }: PreparedSync, etag: string | null): SyncedState | null =>
  etag === null || source.rejects.count > 0 ? null : { etag, source: source.fingerprint };

/** Everything that was planned was done. */
const isFullyApplied = ({ ending, failed, unknown, withheld }: ApplyReport): boolean =>
  ending === null && withheld === null && failed + unknown === 0;

/** Under this name the state remembers how the service updates nested values. */
const patchSemanticsNote = "patch-manner";

const serviceBehavior = ({ state }: SyncRun): ServiceBehavior => ({
  get patchManner() {
    return patchSemantics.find((manner) => manner === state.note(patchSemanticsNote)) ?? null;
  },
  rememberManner: (manner) => state.remember(patchSemanticsNote, manner),
});
