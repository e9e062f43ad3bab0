/** Decides from statistics which row groups can have features that a request wants. */
import type { Extent, SplitCondition, SplitFilter } from "../../../src/model/index.js";
import type { FieldPlan, GroupPlan, ParquetPlan } from "./plan.js";
import { dateBytes, endDay, firstDay, writeDate } from "./temporal-text.js";

const meets = (a: Extent, b: Extent): boolean => a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];

/** Whether features of the row group can meet all that the filter demands; true if that is unknown. */
export function mayContain(plan: ParquetPlan, group: GroupPlan, filter: SplitFilter): boolean {
  const { extent } = group;
  if (filter.boxes && extent && !filter.boxes.some((box) => meets(extent, box))) return false;
  return filter.conditions.every((condition) => mayHold(plan, group, condition));
}

function mayHold(plan: ParquetPlan, group: GroupPlan, { field, comparison, value }: SplitCondition): boolean {
  const column = plan.fields.find((each) => each.field.name === field);
  const range = column && rangeOf(column, group);
  if (!range) return true;
  const [least, greatest] = range;
  if (least instanceof Uint8Array && greatest instanceof Uint8Array) {
    if (typeof value !== "string") return true;
    const bytes = Buffer.from(value);
    return mayCompare(comparison, Buffer.compare(least, bytes), Buffer.compare(greatest, bytes));
  }
  if (typeof value === "string" || least instanceof Uint8Array || greatest instanceof Uint8Array) return true;
  const order = (a: number | bigint) => (a < value ? -1 : a > value ? 1 : 0);
  return mayCompare(comparison, order(least), order(greatest));
}

/** @param low,high how the least and the greatest value compare with that of the condition */
function mayCompare(comparison: SplitCondition["comparison"], low: number, high: number): boolean {
  switch (comparison) {
    case "=":
      return low <= 0 && high >= 0;
    case "<":
      return low < 0;
    case "<=":
      return low <= 0;
    case ">":
      return high > 0;
    case ">=":
      return high >= 0;
  }
}

type Bound = number | bigint | Uint8Array;

/** The least and the greatest value of a field; null if they are unknown or have an order of their own. */
function rangeOf({ field, decoding, leaves }: FieldPlan, group: GroupPlan): readonly [Bound, Bound] | null {
  const range = group.ranges[leaves[0]!.column];
  if (!range || decoding?.kind !== "plain") return null;
  const bounds = [range.least, range.greatest];
  switch (field.type) {
    case "int32":
    case "int64":
    case "double": {
      const isNumber = (bound: unknown): bound is number | bigint =>
        typeof bound === "bigint" || (typeof bound === "number" && !Number.isNaN(bound));
      return bounds.every(isNumber) ? (bounds as [Bound, Bound]) : null;
    }
    case "date": {
      const isDay = (bound: unknown): bound is number =>
        typeof bound === "number" && bound >= firstDay && bound < endDay;
      return bounds.every(isDay) ? [dateBytesOf(bounds[0] as number), dateBytesOf(bounds[1] as number)] : null;
    }
    case "text": {
      const isBytes = (bound: unknown): bound is Uint8Array => bound instanceof Uint8Array;
      return bounds.every(isBytes) ? (bounds as [Uint8Array, Uint8Array]) : null;
    }
    default:
      return null;
  }
}

function dateBytesOf(day: number): Uint8Array {
  const bytes = new Uint8Array(dateBytes);
  writeDate(day, bytes, 0);
  return bytes;
}
