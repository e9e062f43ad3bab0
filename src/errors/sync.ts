/** What stops a synchronisation: part of the registry in src/errors.ts. */
import type { Entry } from "./entry.js";
import { syncApplyErrors } from "./sync-apply.js";
import { syncPlanErrors } from "./sync-plan.js";
import { syncSourceErrors } from "./sync-source.js";

export const syncErrors = { ...syncPlanErrors, ...syncSourceErrors, ...syncApplyErrors } as const satisfies Record<
  string,
  Entry<never>
>;
