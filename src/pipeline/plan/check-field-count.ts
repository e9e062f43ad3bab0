import { createError } from "../../errors.js";
import { groupDigits } from "../../format-count.js";
import type { LayerSummary } from "../../model/index.js";
import type { FitPlan } from "../../stages/fit-plan.js";
import type { ConvertRequest } from "../request.js";
import type { ChosenWriter } from "./plan-outputs.js";

/** Refuses a layer with more fields than the target can hold, before reading it. @throws unsupported */
export function checkFieldCount(
  source: string,
  count: number,
  { select }: Pick<ConvertRequest, "select">,
  { capabilities: { maxFields }, format }: Pick<ChosenWriter, "capabilities" | "format">,
): void {
  if (maxFields === undefined || select || count <= maxFields) return;
  const reason = `${format.label} holds at most ${maxFields} fields, and the layer has ${count}; choose some with --select, or write GeoJSON or CSV`;
  throw createError("unsupported", { source, reason });
}

/** A table of this many cells takes at least a gigabyte, since each has a delimiter. */
const maxCells = 1e9;
/** A table with fewer than one value per this many cells is nearly empty. */
const maxCellsPerValue = 1000;

/**
 * Refuses a huge and nearly empty table before writing it: a cell for each field of each feature, where for example every
 * feature has a field of its own.
 * @throws unsupported
 */
export function checkCellCount(
  source: string,
  summary: LayerSummary,
  fit: FitPlan,
  { capabilities: { storesEveryCell }, format }: Pick<ChosenWriter, "capabilities" | "format">,
): void {
  const fields = fit.fields?.length ?? 0;
  const cells = summary.featureCount * fields;
  if (!storesEveryCell || cells < maxCells) return;
  const values = summary.fields.reduce((sum, field) => sum + field.values, 0);
  if (values * maxCellsPerValue >= cells) return;
  const reason = `${format.label} has a cell for each of ${groupDigits(fields)} fields in each of ${groupDigits(summary.featureCount)} features, ${groupDigits(cells)} in all, and ${groupDigits(values)} of them have a value; choose fields with --select, or write GeoJSON or KML, where a feature stores only the fields that it has`;
  throw createError("unsupported", { source, reason });
}
