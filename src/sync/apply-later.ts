import { takeSnapshot } from "../remote/snapshot.js";
import { Workspace } from "../remote/workspace.js";
import type { ApplyReport } from "./apply-tools.js";
import { roundingOf } from "./classify-rounding.js";
import { checkFresh } from "./fresh.js";
import { checkGuards } from "./guards.js";
import { isEmptyPlan, type OpenPlan } from "./plan.js";
import { discardRejects } from "./rejects-path.js";
import { sourceFiles } from "./source-files.js";
import { awaitEarlierRequests, carryOut } from "./sync.js";
import type { SyncRun } from "./sync-run.js";

/**
 * Applies a plan that was made before, as long as it still fits.
 * @param rejects where features go that the service refuses
 * @returns null where there is nothing to do, or it was not confirmed
 * @throws plan-stale, guard-sync: then nothing was sent
 */
export async function applyLater(
  plan: OpenPlan,
  rejects: string,
  run: SyncRun,
  confirm: () => Promise<boolean>,
): Promise<ApplyReport | null> {
  const { source, settings } = plan.header;
  const { host, onMap } = run.tools;
  await awaitEarlierRequests(run, settings.settle);
  const workspace = await Workspace.create(run.spool);
  try {
    const snapshot = await takeSnapshot(run.client, workspace, {
      rounding: roundingOf(settings.precision),
      trustPages: settings.trustPages,
      ...(onMap ? { onProgress: onMap } : {}),
    });
    const files = await sourceFiles(source.inputs, host.registry);
    checkFresh(plan, { service: run.client.url, snapshot, files });
  } finally {
    workspace[Symbol.dispose]();
  }
  checkGuards(plan);
  if (isEmptyPlan(plan.counts) || !(await confirm())) return null;
  await discardRejects(rejects);
  return carryOut(plan, rejects, run);
}
