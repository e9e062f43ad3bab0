/** `geoferry push` and `geoferry delete`: compares both sides and writes to the map. */
import { formatCount } from "../../format-count.js";
import type { ApplyReport } from "../../sync/apply/apply-context.js";
import { checkGuards } from "../../sync/plan/guards.js";
import type { OpenPlan, PlanMode } from "../../sync/plan/plan.js";
import { isUnchanged, type PreparedSync } from "../../sync/plan/prepare-sync.js";
import type { SyncRequest } from "../../sync/request.js";
import { expandSource } from "../../sync/source/expand-source.js";
import { synchronize } from "../../sync/sync.js";
import type { SyncRun } from "../../sync/sync-run.js";
import type { CommonArguments } from "../command.js";
import { exitStatus, worstStatus } from "../exit.js";
import { renderDryRun } from "../output/plan-table.js";
import { printNotice } from "../output/print.js";
import { renderError } from "../output/render.js";
import { advising, withSessionFlags } from "../output/session-flags.js";
import { renderApplied, renderConflict, renderCounts, renderPrepared, renderUnchanged } from "../output/sync-report.js";
import { runComparison } from "./run-compare.js";
import { confirmed, openSession, type SessionArguments } from "./sync-session.js";

export interface RunArguments extends SessionArguments, CommonArguments {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** @returns the exit status @throws errors that occur before the first write */
export const runSync = (given: SyncRequest, mode: PlanMode, args: RunArguments): Promise<number> =>
  advising(args, () => runInSession(given, mode, args));

async function runInSession(given: SyncRequest, mode: PlanMode, args: RunArguments): Promise<number> {
  if (args.dryRun) return runComparison(given, mode, args, reportDryRun);
  await using session = await openSession(args, { given: given.map });
  const { run, display } = session;
  const request = { ...(await expandSource(given, run.context.host)), map: run.client.id };
  const onPlan = (prepared: PreparedSync) => {
    display.clear();
    renderPrepared(prepared, args);
    renderCounts(prepared.plan, args);
  };
  const confirm = ({ plan }: PreparedSync) => mayDelete(plan, args);
  let status = 0;
  const onInterruptedUpdatesFinished = (earlier: ApplyReport) => {
    display.clear();
    printNotice(args, `map ${request.map}: completing delete-create updates that an earlier run left unfinished:`);
    renderApplied({ map: request.map }, earlier, run.context.service.requestCount, args);
    if (earlier.failed > 0) status = exitStatus.rejected;
  };
  const onConflict = (report: ApplyReport) => {
    display.clear();
    renderConflict(request.map, report, args);
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
  return applied ? worstStatus([status, reportApplied(applied, request.map, run, args)]) : status;
}

/** Prints the plan of a dry run. @throws guard-sync */
async function reportDryRun(plan: OpenPlan, args: CommonArguments): Promise<void> {
  await renderDryRun(plan, args);
  checkGuards(plan);
}

/** Asks for confirmation if the plan deletes features. */
export async function mayDelete({ header, counts }: OpenPlan, args: RunArguments): Promise<boolean> {
  if (counts.delete === 0) return true;
  return confirmed(`Delete ${formatCount(counts.delete, "feature")} of map ${header.map}?`, args);
}

/** @returns the exit status */
export function reportApplied(report: ApplyReport, map: string, run: SyncRun, args: RunArguments): number {
  const { failed, error } = report;
  renderApplied({ map }, report, run.context.service.requestCount, args);
  if (!error) return failed > 0 ? exitStatus.rejected : 0;
  renderError(withSessionFlags(error, args), args, { map });
  return exitStatus[error.kind];
}
