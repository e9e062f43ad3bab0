/** `geoferry restore`: undoes an earlier run. */

import { applyAndUpdateBaseline } from "../../sync/apply/apply-and-update-baseline.js";
import { openBackup } from "../../sync/journal/backup-reader.js";
import { forgetCreates } from "../../sync/journal/unconfirmed-creates.js";
import { checkGuards } from "../../sync/plan/guards.js";
import { isEmptyPlan } from "../../sync/plan/plan.js";
import {
  describeRestore,
  findEditGuards,
  noteRestore,
  noteUndone,
  type PreparedRestore,
  prepareRestore,
  type RestorePlan,
  recordNewIds,
} from "../../sync/plan/plan-restore.js";
import { checkRejectsFile, rejectsFileOf, removeOldRejects } from "../../sync/source/rejects-path.js";
import type { ReadonlySyncRun } from "../../sync/sync-run.js";
import type { RestoreArguments } from "../commands/restore.js";
import { mapIdOf, restorationSettingsOf } from "../options/sync-options.js";
import { printNotice } from "../output/print.js";
import { renderCounts } from "../output/sync-report.js";
import { reportApplied } from "./run-sync.js";
import { confirmed, openReadingSession, openSession, type SyncSession } from "./sync-session.js";

/** @returns the exit status @throws backup-invalid, guard-sync … */
export async function runRestore(args: RestoreArguments): Promise<number> {
  const settings = restorationSettingsOf(args);
  const backup = await openBackup(args.backupfile);
  const { header } = backup;
  const rejectsPath = args.rejects ?? `${args.backupfile}.rejects.geojsonl`;
  const rejects = rejectsFileOf(rejectsPath, header.service, header.map);
  checkRejectsFile(rejects);
  const map = args.map === undefined ? { id: header.map } : { given: mapIdOf(args.map) };
  const at = { ...args, recordedUrl: header.service };
  /** @throws guard-sync */
  const planAndReport = async ({ run, display }: SyncSession<ReadonlySyncRun>): Promise<PreparedRestore> => {
    const restoration = await prepareRestore(backup, settings, run);
    const { plan } = restoration;
    display.clear();
    if (!backup.isVerified)
      printNotice(
        args,
        `${backup.path} has no digest, as an earlier version wrote it: changes to it cannot be detected`,
      );
    for (const sentence of describeRestore(restoration)) printNotice(args, sentence);
    renderCounts(plan, args);
    checkGuards(plan, findEditGuards(restoration, args.overwriteEdits ?? false));
    if (isEmptyPlan(plan.counts))
      printNotice(args, `map ${plan.header.map}: nothing to do: ${describeState(restoration)}`);
    return restoration;
  };
  if (args.dryRun) {
    await using session = await openReadingSession(at, map);
    await planAndReport(session);
    return 0;
  }
  await using session = await openSession(at, map);
  const restoration = await planAndReport(session);
  const { plan } = restoration;
  const { run, display } = session;
  if (isEmptyPlan(plan.counts)) noteRestore(backup, restoration, run);
  if (isEmptyPlan(plan.counts) || !(await confirmed("Undo the run?", args))) return 0;
  await removeOldRejects(rejects);
  restoration.settleRecords();
  // It deletes what that run created.
  forgetCreates(run.stateFolder, backup.path);
  noteRestore(backup, restoration, run);
  const report = await applyAndUpdateBaseline(plan, rejects, run, (after) =>
    recordNewIds(backup, restoration, after, run),
  );
  if (report.error === null && report.failed === 0 && report.withheld === null) noteUndone(backup, restoration, run);
  display.clear();
  return reportApplied(report, plan.header.map, run, args);
}

const describeState = (restoration: RestorePlan): string => {
  if (restoration.lost.count > 0) return "nothing else that the run changed is known to be left";
  return keepsCreated(restoration)
    ? "apart from the features that are kept, it has the state before the run"
    : "it already has the state before the run";
};

/** Whether features that the run created stay on the map, or may. */
const keepsCreated = ({ created }: RestorePlan): boolean => created.changed > 0 || created.unknown > 0;
