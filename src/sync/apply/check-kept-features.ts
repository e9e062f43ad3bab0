import { createError } from "../../errors.js";
import type { ApplyRun } from "./apply-run.js";
import { MapReread } from "./map-reread.js";

/**
 * Looks, after features were deleted because others say the same, whether these are still there. Where a service gives no
 * entity tags, another run that keeps others can delete them at the same moment.
 * @throws duplicates-lost
 */
export async function checkKeptFeatures(run: ApplyRun): Promise<void> {
  const stays = new Set<string>();
  for await (const action of run.plan.actions(["delete"]))
    if (action.action === "delete" && action.stays) stays.add(action.stays.id);
  if (stays.size === 0) return;
  await using reading = await MapReread.read(run);
  const gone = [...stays].filter((id) => !reading.findById(id));
  const { service, map } = run.header;
  if (gone.length > 0)
    throw createError("duplicates-lost", { service, map, count: gone.length, backup: run.context.backupPath });
}
