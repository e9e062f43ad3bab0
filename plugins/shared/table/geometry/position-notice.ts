import type { ColumnSamples } from "../columns/samples.js";
import type { Notices } from "../header/first-record.js";
import {
  type GeometryPlan,
  isGeometryName,
  isMissing,
  isPositionName,
  isPositionText,
  normalizeName,
  parsePositionText,
} from "./geometry-columns.js";

/** Names that show which number comes first. */
const orderedName = /^(lat|lon|lng|xy)/;

/**
 * The notice for a column of coordinate pairs: the assumed order if the name does not show it, or why the column was
 * rejected. `isAsked`: an option selects the geometry.
 */
export function positionNotice(
  plan: GeometryPlan,
  names: readonly string[],
  samples: ColumnSamples,
  isAsked: boolean,
): Notices[number] | null {
  if (plan.kind === "position") {
    const name = names[plan.column]!;
    if (orderedName.test(normalizeName(name))) return null;
    return ["pair-order", name, 'taken as "latitude, longitude"; a column named lon_lat is taken the other way'];
  }
  if (plan.kind !== "none" || isAsked) return null;
  const column = names.findIndex(
    (name, c) =>
      isPositionName(name) && samples.of(c).length > 0 && samples.of(c).every((text) => isPositionText(text)),
  );
  if (column < 0) return null;
  const name = names[column]!;
  const latitudeIsFirst = !/^(lon|lng|xy)/.test(normalizeName(name));
  const order = latitudeIsFirst ? "latitude, longitude" : "longitude, latitude";
  const isSwapped = samples.of(column).every((text) => parsePositionText(text, !latitudeIsFirst, "east"));
  const remedy = isSwapped
    ? `; the other way they would fit: name the column ${latitudeIsFirst ? "lon_lat" : "lat_lon"}`
    : "; put the numbers into columns x and y";
  return ["pair-left-out", name, `no geometry: as "${order}" some would be out of range${remedy}`];
}

/** A column with the name of a geometry and digits in its values, none of which is readable. */
export function unusedGeometryColumn(names: readonly string[], samples: ColumnSamples): Notices[number] | null {
  for (const [c, name] of names.entries()) {
    if (!isPositionName(name) && !isGeometryName(name)) continue;
    const example = samples.of(c).find((text) => !isMissing(text) && /\d\D+\d/.test(text));
    if (example === undefined) continue;
    const remedy = `--in "geometry=${name}" makes rejects of such values`;
    return ["coordinates-left-out", name, `its values are not coordinates, as "${example.slice(0, 40)}"; ${remedy}`];
  }
  return null;
}
