import type { FieldType } from "../../../src/model/field.js";
import type { TargetLayer } from "../../../src/plugin/format.js";
import type { TableLayout } from "../../shared/table/layout.js";

const [minWidth, maxWidth] = [9, 50];
const geometryWidth = { xy: 20, wkt: 40, wkb: 40, geojson: 40, none: 0 } as const;
/** Programs show ### in place of a date that is wider than its column. */
const typeWidths: Readonly<Partial<Record<FieldType, number>>> = {
  ...{ date: 12, time: 14, datetime: 24 },
  // The summary has upper bounds for the lengths of numbers, which can depend on the number of workers.
  ...{ boolean: 9, int32: 13, int64: 18, double: 20 },
};

/** The widths of all columns in characters: those of the longest texts, and of the types. */
export function columnWidths({ summary }: TargetLayer, { mode, geometryNames, fields }: TableLayout): number[] {
  const longest = new Map(summary?.fields.map(({ name, maxBytes }) => [name, maxBytes]) ?? []);
  const widthOf = (name: string, type: FieldType) =>
    Math.min(maxWidth, Math.max(minWidth, name.length + 2, typeWidths[type] ?? (longest.get(name) ?? 0) + 2));
  return [...geometryNames.map(() => geometryWidth[mode]), ...fields.map(({ name, type }) => widthOf(name, type))];
}
