/** Planning without applying. */
import { waitForEarlierRequests } from "../journal/wait-for-earlier-requests.js";
import type { SyncRequest } from "../request.js";
import type { ReadonlySyncRun } from "../sync-run.js";
import type { PlanMode } from "./plan.js";
import { type PlanDestination, type PreparedSync, prepareSync } from "./prepare-sync.js";

/**
 * Creates a plan without checking guards or sending anything.
 * @param output path of the plan; by default a temporary file, deleted with the run
 * @throws errors of `prepareSync`
 */
export async function planSync(
  request: SyncRequest,
  mode: PlanMode,
  run: ReadonlySyncRun,
  output?: PlanDestination,
): Promise<PreparedSync> {
  await waitForEarlierRequests(run, request.settleTime);
  return prepareSync(request, mode, run, output);
}
