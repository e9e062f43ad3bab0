import type { FieldType } from "../../../../src/model/field.js";
import {
  type FieldSummary,
  type LayerSummary,
  maxBooleanTextBytes,
  maxDoubleTextBytes,
} from "../../../../src/model/layer-summary.js";
import { toKindSummaries } from "../geometry/geometry-scan.js";
import type { ColumnPlan } from "./plan.js";
import type { TableScan } from "./table-scan.js";

/** Whether every value inferred as one type is readable as the other. */
const canHoldType = (declared: FieldType, found: FieldType): boolean =>
  declared === found ||
  declared === "text" ||
  (declared === "double" && (found === "int32" || found === "int64")) ||
  (declared === "int64" && found === "int32");

function summarizeField({ name, type }: ColumnPlan, c: number, scan: TableScan): FieldSummary | null {
  const { texts, typed, empties } = scan.sizes;
  const isText = type === "text";
  const isFilled = isText ? texts[c]! > 0 || empties[c] === 1 : scan.sorts[c]! !== 0;
  if (!isFilled) return { name, type, values: 0, maxBytes: 0 };
  if (!canHoldType(type, scan.formOf(c).type)) return null;
  const maxBytes = isText
    ? texts[c]!
    : type === "double"
      ? maxDoubleTextBytes
      : type === "boolean"
        ? maxBooleanTextBytes
        : typed[c]!;
  return { name, type, values: scan.rows, maxBytes };
}

/**
 * The summary of all features of a file scanned whole; null if only reading can determine it. Counts are upper bounds:
 * they include rows that are rejected later.
 */
export function summarizeScan(columns: readonly ColumnPlan[], scan: TableScan): LayerSummary | null {
  const geometry = scan.geometry?.facts();
  if (!geometry || scan.isDamaged) return null;
  const fields: FieldSummary[] = [];
  for (let c = 0; c < columns.length; c++) {
    const column = columns[c]!;
    if (!column.kept) continue;
    const field = summarizeField(column, c, scan);
    if (!field) return null;
    fields.push(field);
  }
  return {
    featureCount: scan.rows,
    fields,
    kinds: toKindSummaries(geometry),
    hasZ: geometry.hasZ,
    hasM: geometry.hasM,
    extent: null,
    idType: null,
    maxIdBytes: 0,
  };
}
