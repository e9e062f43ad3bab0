/** `geoferry apply`: applies a saved plan. */

import type { MapDetails } from "../../errors/sync-apply-errors.js";
import type { GuardDetails } from "../../errors/sync-plan-errors.js";
import { createError, GeoferryError } from "../../errors.js";
import { Spool } from "../../io/input/spool.js";
import type { ApplyReport } from "../../sync/apply/apply-context.js";
import { applySavedPlan } from "../../sync/apply/apply-saved-plan.js";
import { isEmptyPlan } from "../../sync/plan/plan.js";
import { openPlan } from "../../sync/plan/plan-reader.js";
import { checkRejectsFile, rejectsFileOf } from "../../sync/source/rejects-path.js";
import type { ApplyArguments } from "../commands/apply.js";
import { printNotice } from "../output/print.js";
import { renderCounts } from "../output/sync-report.js";
import { mayDelete, reportApplied } from "./run-sync.js";
import { openSession } from "./sync-session.js";

/** @returns the exit status @throws plan-invalid, plan-version, plan-stale, guard-sync … */
export async function runApply(args: ApplyArguments): Promise<number> {
  await using spool = new Spool();
  const plan = await openPlan(args.plan, spool);
  const { header, counts } = plan;
  const rejects = rejectsFileOf(args.rejects ?? `${args.plan}.rejects.geojsonl`, header.service, header.map);
  checkRejectsFile(rejects);
  await using session = await openSession({ ...args, recordedUrl: header.service }, { id: header.map });
  const { run, display } = session;
  const confirm = () => {
    display.clear();
    renderCounts(plan, args);
    return mayDelete(plan, args);
  };
  const report = await applySavedPlan(plan, rejects, run, confirm).catch((error: unknown) => {
    throw nameGuardedPlan(error, args.plan);
  });
  display.clear();
  if (report) return reportApplied(nameOutdatedPlan(report, args.plan), header.map, run, args);
  if (isEmptyPlan(counts)) printNotice(args, `${args.plan}: nothing to do`);
  return 0;
}

/** The options that allow what a guard stops are those of the command that makes the plan. */
function nameGuardedPlan(error: unknown, plan: string): unknown {
  if (!(error instanceof GeoferryError) || error.code !== "guard-sync") return error;
  return createError("guard-sync", { ...(error.details as GuardDetails), plan }, error);
}

/** The same plan would conflict again: the advice is to make another one. */
function nameOutdatedPlan(report: ApplyReport, plan: string): ApplyReport {
  const { error } = report;
  if (error?.code !== "map-changed") return report;
  const { service, map } = error.details as MapDetails;
  return { ...report, error: createError("map-changed", { service, map, plan }) };
}
