/** Checks source filters: a full synchronization would delete the features that they exclude from the map. */
import { createError } from "../../errors.js";
import { parseGeometryType } from "../../stages/geometry/geometry-type.js";
import type { PlanMode } from "../plan/plan.js";
import type { SourceRequest, SyncRequest } from "../request.js";

/**
 * Lists the flags that exclude features. Omits `--limit`, for which a guard always stops the run. @throws
 * option-invalid
 */
export function listFilterOptions({ where, bbox, geometryType }: SourceRequest): string[] {
  return [
    where === undefined ? "" : "--where",
    bbox === undefined ? "" : "--bbox",
    geometryType === undefined || parseGeometryType(geometryType).singleKind === null ? "" : "--geometry-type",
  ].filter((flag) => flag !== "");
}

/** @throws filters-delete unless the deletion of excluded features is allowed */
export function checkFilters(
  { source, deleteExcluded }: Pick<SyncRequest, "source" | "deleteExcluded">,
  mode: PlanMode,
  names: { readonly service: string; readonly map: string },
): void {
  const filters = mode === "full" && !deleteExcluded ? listFilterOptions(source) : [];
  if (filters.length > 0) throw createError("filters-delete", { ...names, filters });
}
