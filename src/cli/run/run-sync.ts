/** `geoferry push` and `geoferry delete`: both sides compared, and the map written to. */
import { formatCount } from "../../format-count.js";
import type { ApplyReport } from "../../sync/apply/apply-context.js";
import { checkGuards } from "../../sync/plan/guards.js";
import type { OpenPlan, PlanMode } from "../../sync/plan/plan.js";
import { isUnchanged, type PreparedSync } from "../../sync/plan/prepare-sync.js";
import type { SyncRequest } from "../../sync/request.js";
import { synchronize } from "../../sync/sync.js";
import type { SyncRun } from "../../sync/sync-run.js";
import type { CommonArguments } from "../command.js";
import { exitStatus, worstStatus } from "../exit.js";
import { renderDryRun } from "../output/plan-table.js";
import { tell } from "../output/print.js";
import { renderError } from "../output/render.js";
import { advising, withSessionFlags } from "../output/session-flags.js";
import {
  renderApplied,
  renderCounts,
  renderOvertaken,
  renderPrepared,
  renderUnchanged,
} from "../output/sync-report.js";
import { runComparison } from "./run-compare.js";
import { confirmed, openSession, type SessionArguments } from "./sync-session.js";

export interface RunArguments extends SessionArguments, CommonArguments {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** @returns the exit status @throws what stops it before the first write */
export const runSync = (asked: SyncRequest, mode: PlanMode, args: RunArguments): Promise<number> =>
  advising(args, () => runInSession(asked, mode, args));

async function runInSession(asked: SyncRequest, mode: PlanMode, args: RunArguments): Promise<number> {
  if (args.dryRun) return runComparison(asked, mode, args, tellRehearsal);
  await using session = await openSession(args, { given: asked.map });
  const { run, display } = session;
  const request = { ...asked, map: run.client.id };
  const onPlan = (prepared: PreparedSync) => {
    display.clear();
    renderPrepared(prepared, args);
    renderCounts(prepared.plan, args);
  };
  const confirm = ({ plan }: PreparedSync) => mayDelete(plan, args);
  let status = 0;
  const onInterruptedUpdatesFinished = (earlier: ApplyReport) => {
    display.clear();
    tell(args, `map ${request.map}: features that an earlier run had deleted to create them anew:`);
    renderApplied({ map: request.map }, earlier, run.context.service.requestCount, args);
    if (earlier.failed > 0) status = exitStatus.rejected;
  };
  const onConflict = (report: ApplyReport) => {
    display.clear();
    renderOvertaken(request.map, report, args);
  };
  const { prepared: found, applied } = await synchronize(request, mode, run, {
    onPlan,
    confirm,
    onInterruptedUpdatesFinished,
    onConflict,
  });
  display.clear();
  if (isUnchanged(found) && applied === null) {
    renderUnchanged(found, request.map, args);
    return status;
  }
  const { rejects, gaps } = found.source;
  if (rejects.count > 0 || gaps.length > 0) status = exitStatus.rejected;
  return applied ? worstStatus([status, tellApplied(applied, request.map, run, args)]) : status;
}

/** What would be done, and what would stop it. @throws guard-sync */
async function tellRehearsal(plan: OpenPlan, args: CommonArguments): Promise<void> {
  await renderDryRun(plan, args);
  checkGuards(plan);
}

/** Deletes are shown to a person, if one is there, before they are carried out. */
export async function mayDelete({ header, counts }: OpenPlan, args: RunArguments): Promise<boolean> {
  if (counts.delete === 0) return true;
  return confirmed(`Delete ${formatCount(counts.delete, "feature")} of map ${header.map}?`, args);
}

/** @returns the exit status */
export function tellApplied(report: ApplyReport, map: string, run: SyncRun, args: RunArguments): number {
  const { failed, error } = report;
  renderApplied({ map }, report, run.context.service.requestCount, args);
  if (!error) return failed > 0 ? exitStatus.rejected : 0;
  renderError(withSessionFlags(error, args), args, { map });
  return exitStatus[error.kind];
}
