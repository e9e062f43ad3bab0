/** Questions about one feature of a service, whose answers show whether it selects by boxes and numbers correctly. */
import type { Extent, Geometry, SplitCondition } from "../../src/model/index.js";

/** Relative enlargement of a box around a feature, for rounding. */
const margin = 1e-9;

export function widen([west, south, east, north]: Extent): Extent {
  const by = (value: number) => Math.max(Math.abs(value), 1) * margin;
  return [west - by(west), south - by(south), east + by(east), north + by(north)];
}

/** The box of a geometry; infinite if it has no positions. */
export function extentOf(geometry: Geometry): Extent {
  let box: Extent = [Infinity, Infinity, -Infinity, -Infinity];
  const visit = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    const [x, y] = value as unknown[];
    if (typeof x === "number" && typeof y === "number")
      box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
    else for (const each of value) visit(each);
  };
  if (geometry.type === "GeometryCollection")
    for (const member of geometry.geometries) {
      const [west, south, east, north] = extentOf(member);
      box = [Math.min(box[0], west), Math.min(box[1], south), Math.max(box[2], east), Math.max(box[3], north)];
    }
  else visit(geometry.coordinates);
  return box;
}

/**
 * A box around the first position of a geometry that it reaches into without lying in it: a service that selects only
 * what lies within a box, or whose middle does, does not find it. Null for a geometry without width and height.
 */
export function boxAcross(geometry: Geometry): Extent | null {
  const [west, south, east, north] = extentOf(geometry);
  const [x, y] = firstPosition(geometry) ?? [];
  const [width, height] = [(east - west) / 4, (north - south) / 4];
  if (x === undefined || y === undefined || !(width + height > 0)) return null;
  return widen([x - width, y - height, x + width, y + height]);
}

function firstPosition(geometry: Geometry): readonly number[] | null {
  if (geometry.type === "GeometryCollection") return geometry.geometries.map(firstPosition).find(Boolean) ?? null;
  let value: unknown = geometry.coordinates;
  while (Array.isArray(value) && Array.isArray(value[0])) value = value[0];
  return Array.isArray(value) && value.length > 1 ? (value as number[]) : null;
}

/** How many features suffice to find one with a number that `orderProbe` has a question for. */
export const probedFeatures = 10;

/**
 * Conditions for a field that a feature with this number meets, and does not if the numbers are compared as texts, such as
 * 42 < 100. Null if there are none, as for 0 and 1.
 */
export function orderProbe(field: string, value: unknown): SplitCondition[] | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  const power = 10 ** Math.floor(Math.log10(Math.abs(value)));
  const bounds = value > 0 ? [power * 10, Math.round(power / 10) * 9] : [value * 2, value / 2];
  const bound = bounds.find((each) => each !== value && value < each !== String(value) < String(each));
  if (bound === undefined) return null;
  const conditions = { ">=": value, "<=": value, [value < bound ? "<" : ">"]: bound } as const;
  return Object.entries(conditions).map(([comparison, each]) => ({
    field,
    comparison: comparison as SplitCondition["comparison"],
    value: each,
  }));
}

/** The fields of conditions that need an order of numbers. */
export function orderedFields(conditions: readonly SplitCondition[]): string[] {
  const ordered = conditions.filter(
    ({ comparison, value }) => typeof value !== "string" && (comparison !== "=" || !Number.isInteger(Number(value))),
  );
  return [...new Set(ordered.map(({ field }) => field))];
}

/**
 * Whether a service compares the numbers of fields as numbers, by a question for each field about one of the features.
 * False if there is no question for a field.
 * @param count the number of features that meet the conditions; null if the service does not say it
 */
export async function comparesNumbers(
  fields: readonly string[],
  features: readonly Readonly<Record<string, unknown>>[],
  count: (conditions: readonly SplitCondition[]) => Promise<number | null>,
): Promise<boolean> {
  const questions = fields.map((field) =>
    features.map((feature) => orderProbe(field, feature[field])).find((probe) => probe !== null),
  );
  if (questions.includes(undefined)) return false;
  for (const question of questions) if (!(await count(question!))) return false;
  return true;
}

/**
 * The box to ask a service for, since a request has one: that with features, or the first if none has any.
 * @param count the number of features that meet a box; null if the service does not say it
 * @returns null if several boxes have features, or the service does not count them
 */
export async function chooseBox(
  boxes: readonly Extent[],
  count: (box: Extent) => Promise<number | null>,
): Promise<Extent | null> {
  const hits: Extent[] = [];
  for (const box of boxes) {
    const found = await count(box);
    if (found === null) return null;
    if (found > 0) hits.push(box);
  }
  return hits.length > 1 ? null : (hits[0] ?? boxes[0] ?? null);
}
