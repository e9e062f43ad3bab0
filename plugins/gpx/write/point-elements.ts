import { standardFields } from "../elements.js";
import type { GpxLink } from "../read/visitor.js";

/** Values of the points of one line; `at(point)` returns that of a point. */
export interface PointList {
  readonly key: string;
  readonly values: readonly unknown[];
}

/** The values of the points of each line of a feature. */
export type PointLists = readonly (readonly PointList[])[];

/** The elements of Garmin's TrackPointExtension, version 2, in the order of its schema, by the names of their arrays. */
export const garminElements: readonly (readonly [key: string, element: string])[] = [
  ["atemps", "atemp"],
  ["wtemps", "wtemp"],
  ["depths", "depth"],
  ["heart", "hr"],
  ["cads", "cad"],
  ["speeds", "speed"],
  ["courses", "course"],
  ["bearings", "bearing"],
];
export const garminNamespace = "http://www.garmin.com/xmlschemas/TrackPointExtension/v2";

/** The names of the arrays for the elements of points, in the order of the schema. */
export const standardKeys: readonly (readonly [key: string, element: string])[] = standardFields.map(({ name }) => [
  `${name}s`,
  name,
]);

/**
 * Returns the values in `coordinateProperties` for each point, line by line; null unless each name has one array with a
 * value for each position, because values then cannot be matched to points.
 * @param lengths the number of positions of each line
 * @param nested whether there is an array for each line
 */
export function parsePointLists(value: unknown, lengths: readonly number[], nested: boolean): PointLists | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const lists: PointList[][] = lengths.map(() => []);
  for (const [key, all] of Object.entries(value)) {
    const perLine: unknown = nested ? all : [all];
    if (!Array.isArray(perLine) || perLine.length !== lengths.length) return null;
    for (const [line, values] of perLine.entries()) {
      if (!Array.isArray(values) || values.length !== lengths[line]) return null;
      lists[line]!.push({ key, values });
    }
  }
  return lists;
}

/** Returns the links in a value; null for a value that is not a list of links. */
export function parseLinks(value: unknown): GpxLink[] | null {
  if (!Array.isArray(value)) return null;
  const links: GpxLink[] = [];
  for (const each of value as unknown[]) {
    if (typeof each !== "object" || each === null) return null;
    const { href, text = null, type = null, ...others } = each as Record<string, unknown>;
    const isText = (part: unknown) => part === null || (typeof part === "string" && part !== "");
    if (typeof href !== "string" || !isText(text) || !isText(type) || Object.keys(others).length > 0) return null;
    links.push({ href, text: text as string | null, type: type as string | null });
  }
  return links;
}

const ambiguousText = /^(true|false|null|-?\d)|^["[{]/;

/** Returns a point's value as the text of geoferry's element: JSON, except for texts that cannot be mistaken for JSON. */
export const geoferryText = (value: unknown): string =>
  typeof value === "string" && value !== "" && !ambiguousText.test(value) ? value : JSON.stringify(value);
