/** Synchronization errors: part of the registry in src/errors.ts. */
import type { ErrorDefinition } from "./define-error.js";
import { syncApplyErrors } from "./sync-apply-errors.js";
import { syncPlanErrors } from "./sync-plan-errors.js";
import { syncSourceErrors } from "./sync-source-errors.js";

export const syncErrors = { ...syncPlanErrors, ...syncSourceErrors, ...syncApplyErrors } as const satisfies Record<
  string,
  ErrorDefinition<never>
>;
