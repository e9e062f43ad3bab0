/** `geoferry restore`: undoes an earlier run. */
import { openBackup } from "../sync/backup-reader.js";
import { checkGuards } from "../sync/guards.js";
import { isEmptyPlan, type OpenPlan } from "../sync/plan.js";
import { checkRejectsPath, discardRejects } from "../sync/rejects-path.js";
import { describeRestoration, prepareRestoration, trippedEdits } from "../sync/restore.js";
import { carryOut } from "../sync/sync.js";
import type { ReadingRun } from "../sync/sync-run.js";
import type { RestoreArguments } from "./commands/restore.js";
import { tellApplied } from "./run-sync.js";
import { tell } from "./say.js";
import { mapIdOf, restorationSettingsOf } from "./sync-options.js";
import { renderCounts } from "./sync-report.js";
import { confirmed, openReadingSession, openSession, type Session } from "./sync-session.js";

/** @returns the exit status @throws backup-invalid, guard-sync … */
export async function runRestore(args: RestoreArguments): Promise<number> {
  const settings = restorationSettingsOf(args);
  const backup = await openBackup(args.backupfile);
  const rejects = args.rejects ?? `${args.backupfile}.rejects.geojsonl`;
  await checkRejectsPath(rejects);
  const map = args.map === undefined ? { id: backup.header.map } : { given: mapIdOf(args.map) };
  const at = { ...args, url: args.url ?? backup.header.service };
  /** What it would do, told before it is done. @throws guard-sync */
  const tellRestoration = async ({ run, display }: Session<ReadingRun>): Promise<OpenPlan> => {
    const restoration = await prepareRestoration(backup, settings, run);
    const { plan } = restoration;
    display.clear();
    for (const sentence of describeRestoration(restoration)) tell(args, sentence);
    renderCounts(plan, args);
    checkGuards(plan, trippedEdits(restoration, args.overwriteEdits ?? false));
    if (isEmptyPlan(plan.counts)) tell(args, `map ${plan.header.map}: nothing to do: it is as it was before the run`);
    return plan;
  };
  if (args.dryRun) {
    await using session = await openReadingSession(at, map);
    await tellRestoration(session);
    return 0;
  }
  await using session = await openSession(at, map);
  const plan = await tellRestoration(session);
  if (isEmptyPlan(plan.counts) || !(await confirmed("Undo it?", args))) return 0;
  await discardRejects(rejects);
  const { run, display } = session;
  const report = await carryOut(plan, rejects, run);
  display.clear();
  return tellApplied(report, plan.header.map, run, args);
}
