/** Whether the axes of a service are in the order that its reference system declares. */
import type { Crs, Extent } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";

/** How far a feature may be outside of the bounds that a service declares, in degrees. */
const boundsTolerance = 0.5;

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
