import { withSpan } from "../../tracing/span.js";
import { defaultBackupFolder, findFreeBackupPath } from "../journal/backup.js";
import type { OpenPlan } from "../plan/plan.js";
import { openBaselineFor } from "../plan/prepare-sync.js";
import type { RejectsFile } from "../source/rejects-path.js";
import { updateBaseline } from "../state/update-baseline.js";
import type { SyncRun } from "../sync-run.js";
import type { ApplyContext, ApplyReport, ServiceBehavior } from "./apply-context.js";
import { applyPlan } from "./apply-plan.js";
import type { MapReread } from "./map-reread.js";
import { patchSemantics } from "./patch-semantics.js";

/** The report, and whether the map is exactly as planned. */
export interface AppliedPlan extends ApplyReport {
  readonly isAsPlanned: boolean;
}

/**
 * Applies a plan that has passed the guards, and updates the baseline.
 * @param onMapReread called with the map as read after creates and updates
 */
export async function applyAndUpdateBaseline(
  plan: OpenPlan,
  rejects: RejectsFile,
  run: SyncRun,
  onMapReread?: (after: MapReread) => Promise<void>,
): Promise<AppliedPlan> {
  const { settings, key } = plan.header;
  const baseline = openBaselineFor(run.state, settings, key);
  let isAsPlanned = false;
  const report = await withSpan("apply", {}, () =>
    applyPlan(plan, {
      ...createApplyContext(rejects, run),
      isKnownResult: (entry, held) => baseline.isKnownResult(entry, held),
      onMapReread: async (after, record) => {
        await onMapReread?.(after);
        const update = await updateBaseline(plan, after, baseline, record);
        isAsPlanned = update.isAsPlanned;
        return update.areCreatesMatched;
      },
    }),
  );
  return { ...report, isAsPlanned: isAsPlanned && isFullyApplied(report) };
}

/** @param rejectsFile for features that the service rejects */
export function createApplyContext(rejectsFile: RejectsFile, run: SyncRun): ApplyContext {
  const { context, client, spool, stateFolder } = run;
  return {
    client,
    spool,
    stateFolder,
    serviceBehavior: serviceBehavior(run),
    traffic: context.traffic,
    signal: context.host.signal,
    backupPath: findFreeBackupPath(context.backupPath ?? defaultBackupFolder(stateFolder), client.id, context.host.now),
    rejectsFile,
    ...(context.onApplyProgress ? { onProgress: context.onApplyProgress } : {}),
  };
}

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
