/** Describes coordinate reference systems. */

import type { CrsReference } from "../../pipeline/crs-reference.js";
import type { LayerReport } from "../../pipeline/inspect.js";

/** Better operations with missing grids that are listed; `--json` lists all. */
const maxBetterOperations = 3;

/** Why a layer is refused; null if it is not, or if `describeReference` contains the reason. */
export const refusalOf = ({ error, errorCode }: LayerReport): string | null =>
  errorCode === "crs-no-operation" ? null : error;

/** Pairs of label and text; empty for WGS 84. */
export function describeReference(reference: CrsReference): [word: string, sentence: string][] {
  const { axes, unit, datum, area, toWgs84 } = reference;
  if (!("error" in toWgs84) && toWgs84.from === "EPSG:4326") return [];
  const found: [string, string][] = [];
  const units = unit === null ? "" : ` in ${unit}${/^(degree|metre|kilometre|grad)$/.test(unit) ? "s" : ""}`;
  found.push(["axes", `x ${axes[0]}, y ${axes[1]}${units}${datum === null ? "" : `, on ${datum}`}`]);
  if (area) found.push(["area", describeArea(reference)]);
  if ("error" in toWgs84) found.push(["to WGS84", toWgs84.error]);
  else if (toWgs84.kind === "transformation") {
    const { name, accuracy } = toWgs84;
    found.push(["to WGS84", `${name}: ${accuracy === null ? "of unknown accuracy" : `accurate to ${accuracy} m`}`]);
  }
  const { better } = toWgs84;
  for (const { sentence } of better.slice(0, maxBetterOperations)) found.push(["better", sentence]);
  if (better.length > maxBetterOperations)
    found.push(["better", `${better.length - maxBetterOperations} more with missing grids; --json lists them`]);
  return found;
}

function describeArea({ area, areaName }: CrsReference): string {
  const [west, south, east, north] = area!;
  const bounds = `longitude ${west}° to ${east}°, latitude ${south}° to ${north}°`;
  return areaName === null ? bounds : `${areaName}: ${bounds}`;
}
