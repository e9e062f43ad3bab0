/** `geoferry plan`, `geoferry verify`, and `--dry-run` of `push` and `delete`: compares both sides without writing. */
import { existsSync } from "node:fs";
import { quoteForShell } from "../../errors/shell-quote.js";
import { createError } from "../../errors.js";
import { refuseInputAsOutput } from "../../pipeline/plan/path-plan.js";
import { findTrippedGuards } from "../../sync/plan/guards.js";
import { isEmptyPlan, type OpenPlan, type PlanCounts, type PlanMode } from "../../sync/plan/plan.js";
import { planSync } from "../../sync/plan/plan-sync.js";
import type { SyncRequest } from "../../sync/request.js";
import { expandSource } from "../../sync/source/expand-source.js";
import type { CommonArguments } from "../command.js";
import { exitStatus } from "../exit.js";
import { printNotice } from "../output/print.js";
import { advising, urlFlag } from "../output/session-flags.js";
import { renderPrepared } from "../output/sync-report.js";
import { openReadingSession, type SessionArguments } from "./sync-session.js";

export interface CompareArguments extends SessionArguments, CommonArguments {
  readonly output?: string;
  readonly html?: string;
  readonly overwrite?: boolean;
  readonly exitCode?: boolean;
}

/** Checked before the comparison, which may take long. @throws output-exists */
function refuseExisting(path: string | undefined, overwrite: boolean): void {
  if (path !== undefined && !overwrite && existsSync(path))
    throw createError("output-exists", { output: path, use: "plan" });
}

/** @returns the exit status */
export const runComparison = (
  given: SyncRequest,
  mode: PlanMode,
  args: CompareArguments,
  reportPlan: ReportPlan,
  differs: Differs = changesMap,
): Promise<number> => advising(args, () => compareInSession(given, mode, args, reportPlan, differs));

type ReportPlan = (plan: OpenPlan, args: CommonArguments) => void | Promise<void>;

/** Whether `--exit-code` reports differences. */
type Differs = (counts: PlanCounts) => boolean;

/** Whether applying the plan would change the map. */
const changesMap: Differs = (counts) => !isEmptyPlan(counts);

async function compareInSession(
  given: SyncRequest,
  mode: PlanMode,
  args: CompareArguments,
  reportPlan: ReportPlan,
  differs: Differs,
): Promise<number> {
  const { output: path, overwrite = false } = args;
  for (const file of [path, args.html]) refuseExisting(file, overwrite);
  await using session = await openReadingSession(args, { given: given.map });
  const { run, display } = session;
  const request = { ...(await expandSource(given, run.context.host)), map: run.client.id };
  for (const file of [path, args.html])
    if (file !== undefined) refuseInputAsOutput(file, request.source.inputs, run.context.host.registry);
  const prepared = await planSync(request, mode, run, path === undefined ? undefined : { path, overwrite });
  display.clear();
  const { plan, source } = prepared;
  renderPrepared(prepared, args);
  await reportPlan(plan, args);
  if (path !== undefined) {
    const isRefused = findTrippedGuards(plan).length > 0;
    const command = ["apply", path, ...urlFlag(args)].map(quoteForShell).join(" ");
    const next = isRefused ? "geoferry apply refuses it, as stated above" : `to apply it: geoferry ${command}`;
    printNotice(args, `saved the plan in ${path}; ${next}`);
  }
  if (args.html !== undefined) {
    const { writePlanPage } = await import("../plan-page/page.js");
    await writePlanPage(plan, args.html, overwrite);
    printNotice(args, `saved a page with the map before and after in ${args.html}`);
  }
  if (source.rejects.count > 0 || source.gaps.length > 0) return exitStatus.rejected;
  return args.exitCode && differs(plan.counts) ? exitStatus.differences : 0;
}
