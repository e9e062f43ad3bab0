import { createError } from "../../errors.js";
import type { ApplyRun } from "./apply-run.js";
import { MapReread } from "./map-reread.js";

/**
 * After deleting duplicates, verifies that the kept features still exist. If a service sends no entity tags, another
 * run that keeps different ones can delete them at the same time.
 * @throws duplicates-lost
 */
export async function checkKeptFeatures(run: ApplyRun): Promise<void> {
  const keptIds = new Set<string>();
  for await (const action of run.plan.actions(["delete"]))
    if (action.action === "delete" && action.stays) keptIds.add(action.stays.id);
  if (keptIds.size === 0) return;
  await using reading = await MapReread.read(run);
  const gone = [...keptIds].filter((id) => !reading.findById(id));
  const { service, map } = run.header;
  if (gone.length > 0)
    throw createError("duplicates-lost", { service, map, count: gone.length, backup: run.context.backupPath });
}
