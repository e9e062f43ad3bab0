import { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import { readSnapshot } from "../../remote/snapshot/read-snapshot.js";
import { roundingForPrecision } from "../diff/rounding.js";
import { readCreatesRecords } from "../journal/unconfirmed-creates.js";
import { waitForEarlierRequests } from "../journal/wait-for-earlier-requests.js";
import { checkNotStale } from "../plan/check-not-stale.js";
import { checkGuards } from "../plan/guards.js";
import { isEmptyPlan, type OpenPlan } from "../plan/plan.js";
import { type RejectsFile, removeOldRejects } from "../source/rejects-path.js";
import { readSourceFileDigests } from "../source/source-file-digests.js";
import type { SyncRun } from "../sync-run.js";
import { applyAndUpdateBaseline } from "./apply-and-update-baseline.js";
import type { ApplyReport } from "./apply-context.js";
import { isReadingCurrent } from "./map-state-probe.js";

/**
 * Applies a saved plan if source and map have not changed since.
 * @param rejects for features that the service rejects
 * @returns null if there is nothing to do, or the user did not confirm
 * @throws plan-stale, guard-sync; then nothing was sent
 */
export async function applySavedPlan(
  plan: OpenPlan,
  rejects: RejectsFile,
  run: SyncRun,
  confirm: () => Promise<boolean>,
): Promise<ApplyReport | null> {
  const { source, settings } = plan.header;
  const { host, onSnapshotProgress } = run.context;
  await waitForEarlierRequests(run, settings.settleTime);
  const workspace = await Workspace.create(run.spool);
  try {
    const snapshot = await readSnapshot(run.client, workspace, {
      rounding: roundingForPrecision(settings.precision),
      singleRead: settings.singleRead,
      ...(onSnapshotProgress ? { onProgress: onSnapshotProgress } : {}),
    });
    const isCurrent = () => isReadingCurrent(run.client, snapshot.etag);
    const records = await readCreatesRecords(run, settings.scope, workspace, { isCurrent });
    const files = await readSourceFileDigests(source.inputs, host.registry);
    checkNotStale(plan, { service: run.client.url, snapshot, files });
    await records.check(plan);
    records.settle(false);
  } finally {
    workspace[Symbol.dispose]();
  }
  checkGuards(plan);
  if (isEmptyPlan(plan.counts) || !(await confirm())) return null;
  await removeOldRejects(rejects);
  const report = await applyAndUpdateBaseline(plan, rejects, run);
  const { service, map } = plan.header;
  return report.error?.code === "sync-interrupted"
    ? { ...report, error: createError("sync-interrupted", { service, map, isPlan: true }, report.error) }
    : report;
}
