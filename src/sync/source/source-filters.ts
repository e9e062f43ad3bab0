/** The filters of a source: what they leave out is on the map perhaps, and a full synchronisation would delete it there. */
import { createError } from "../../errors.js";
import { parseGeometryType } from "../../stages/geometry/geometry-type.js";
import type { PlanMode } from "../plan/plan.js";
import type { SourceRequest, SyncRequest } from "../request.js";

/** The flags that leave out features; `--limit` has a guard, which nothing lets pass. @throws option-invalid */
export function listFilterOptions({ where, bbox, geometryType }: SourceRequest): string[] {
  return [
    where === undefined ? "" : "--where",
    bbox === undefined ? "" : "--bbox",
    geometryType === undefined || parseGeometryType(geometryType).singleKind === null ? "" : "--geometry-type",
  ].filter((flag) => flag !== "");
}

/** @throws filters-delete where it is not said that what is left out shall go */
export function checkFilters(
  { source, deleteExcluded }: Pick<SyncRequest, "source" | "deleteExcluded">,
  mode: PlanMode,
  names: { readonly service: string; readonly map: string },
): void {
  const filters = mode === "full" && !deleteExcluded ? listFilterOptions(source) : [];
  if (filters.length > 0) throw createError("filters-delete", { ...names, filters });
}
