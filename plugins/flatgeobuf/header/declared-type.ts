/**
 * Dates and times without a date have no column type of their own: dates are in a column of datetimes, times in one of
 * texts, and the metadata of the column says what they are, as the JSON object `{"type":"date"}`.
 */
import type { FieldType } from "../../../src/model/index.js";
import { ColumnType, type HeaderColumn } from "./header.js";

export const columnMetadataOf = (type: FieldType): string | null =>
  type === "date" || type === "time" ? JSON.stringify({ type }) : null;

/** The type that the metadata of a column declares; null if it declares none. */
export function declaredType({ type, metadata }: Pick<HeaderColumn, "type" | "metadata">): FieldType | null {
  if (type === ColumnType.dateTime && metadata === columnMetadataOf("date")) return "date";
  return type === ColumnType.string && metadata === columnMetadataOf("time") ? "time" : null;
}
