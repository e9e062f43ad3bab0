import { createError } from "../../errors.js";
import { groupDigits } from "../../format-count.js";
import type { LayerSummary } from "../../model/index.js";
import type { FitPlan } from "../../stages/fit-to-writer.js";
import type { ConvertRequest } from "../request.js";
import type { ChosenWriter } from "./plan-outputs.js";

/** Before anything is read: a layer has more fields than the target can hold. @throws unsupported */
export function checkFieldCount(
  source: string,
  count: number,
  { select }: Pick<ConvertRequest, "select">,
  { capabilities: { maxFields }, format }: Pick<ChosenWriter, "capabilities" | "format">,
): void {
  if (maxFields === undefined || select || count <= maxFields) return;
  const reason = `${format.label} holds at most ${maxFields} fields, and there are ${count}; choose some with --select, or write GeoJSON or CSV`;
  throw createError("unsupported", { source, reason });
}

/** So many cells, each of them at least a delimiter, make a file of a gigabyte. */
const maxCells = 1e9;
/** A table is called empty where fewer than one in so many of its cells has a value. */
const maxCellsPerValue = 1000;

/**
 * Before anything is written: a table with a cell for each field of each feature would be that much larger than what is
 * in it, as of features that have a field of their own each.
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
  const reason = `${format.label} has a cell for each of ${groupDigits(fields)} fields in each of ${groupDigits(summary.featureCount)} features, ${groupDigits(cells)} in all, and ${groupDigits(values)} of them have a value; choose fields with --select, or write GeoJSON or KML, where a feature has only its own`;
  throw createError("unsupported", { source, reason });
}
