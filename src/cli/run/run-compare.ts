/** `geoferry plan`, `geoferry verify` and `--dry-run` of `push` and `delete`: both sides compared, and nothing sent. */
import { existsSync } from "node:fs";
import { createError } from "../../errors.js";
import { isEmptyPlan, type OpenPlan, type PlanMode } from "../../sync/plan/plan.js";
import { planSync } from "../../sync/plan/plan-sync.js";
import type { SyncRequest } from "../../sync/request.js";
import type { CommonArguments } from "../command.js";
import { exitStatus } from "../exit.js";
import { tell } from "../output/print.js";
import { advising } from "../output/session-flags.js";
import { renderPrepared } from "../output/sync-report.js";
import { openReadingSession, type SessionArguments } from "./sync-session.js";

export interface CompareArguments extends SessionArguments, CommonArguments {
  readonly output?: string;
  readonly html?: string;
  readonly overwrite?: boolean;
  readonly exitCode?: boolean;
}

/** Told before either side is read, which may take long. @throws output-exists */
function refuseExisting(path: string | undefined, overwrite: boolean): void {
  if (path !== undefined && !overwrite && existsSync(path))
    throw createError("output-exists", { output: path, use: "plan" });
}

/** @param tellPlan what a person or a program is told of the differences @returns the exit status */
export const runComparison = (
  asked: SyncRequest,
  mode: PlanMode,
  args: CompareArguments,
  tellPlan: TellPlan,
): Promise<number> => advising(args, () => compareInSession(asked, mode, args, tellPlan));

type TellPlan = (plan: OpenPlan, args: CommonArguments) => void | Promise<void>;

async function compareInSession(
  asked: SyncRequest,
  mode: PlanMode,
  args: CompareArguments,
  tellPlan: TellPlan,
): Promise<number> {
  const { output: path, overwrite = false } = args;
  for (const file of [path, args.html]) refuseExisting(file, overwrite);
  await using session = await openReadingSession(args, { given: asked.map });
  const { run, display } = session;
  const request = { ...asked, map: run.client.id };
  const prepared = await planSync(request, mode, run, path === undefined ? undefined : { path, overwrite });
  display.clear();
  const { plan, source } = prepared;
  renderPrepared(prepared, args);
  await tellPlan(plan, args);
  if (path !== undefined) tell(args, `the plan is in ${path}; geoferry apply ${path} carries it out`);
  if (args.html !== undefined) {
    const { writePlanPage } = await import("../plan-page/page.js");
    await writePlanPage(plan, args.html, overwrite);
    tell(args, `${args.html} shows the map before and after`);
  }
  if (source.rejects.count > 0 || source.gaps.length > 0) return exitStatus.rejected;
  return args.exitCode && !isEmptyPlan(plan.counts) ? exitStatus.differences : 0;
}
