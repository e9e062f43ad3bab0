/** Boxes of features, and whether the axes of a service are in the order that its reference system declares. */
import type { Crs, Extent, Geometry } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";

/** Relative enlargement of a box around a feature, for rounding. */
const margin = 1e-9;
/** How far a feature may be outside of the bounds that a service declares, in degrees. */
const boundsTolerance = 0.5;

export function widen([west, south, east, north]: Extent): Extent {
  const by = (value: number) => Math.max(Math.abs(value), 1) * margin;
  return [west - by(west), south - by(south), east + by(east), north + by(north)];
}

/** The box of a geometry. */
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

/**
 * Whether the coordinates of a feature are plausible only after swapping the axes: many services have had the order wrong.
 * @param bounds west, south, east, north in degrees, as the service declares them
 */
export async function areAxesSwapped(
  crs: Crs,
  bounds: Extent | null,
  [west, south, east, north]: Extent,
  context: Pick<PluginContext, "crs">,
): Promise<boolean> {
  const [x, y] = [(west + east) / 2, (south + north) / 2];
  if (!Number.isFinite(x + y)) return false;
  if (crs.kind === "geographic") return bounds !== null && !isWithin(bounds, x, y) && isWithin(bounds, y, x);
  const share = (...xy: number[]) => context.crs.computeShareInArea(crs, Float64Array.from(xy));
  return (await share(x, y)) === 0 && (await share(y, x)) === 1;
}

const isWithin = ([west, south, east, north]: Extent, lon: number, lat: number): boolean =>
  lon >= west - boundsTolerance &&
  lon <= east + boundsTolerance &&
  lat >= south - boundsTolerance &&
  lat <= north + boundsTolerance;
