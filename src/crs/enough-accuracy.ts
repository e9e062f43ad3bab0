import { type Area, widthOf, wrapLongitude } from "./area.js";
import { RouteChooser } from "./route-chooser.js";
import { isGood, type Route, unknownAccuracy } from "./routes.js";

/** Steps along each side of an area, borders included. */
const steps = 32;

/** Degrees on every side of a box of positions, so that a single position has an area. */
const margin = 1e-3;

/** A box of positions as an area that is not empty. */
export const areaAround = ([west, south, east, north]: Area): Area => [
  west - margin,
  south - margin,
  east + margin,
  north + margin,
];

/** What the routes are good for in an area. */
export interface Reach {
  /** The routes that are the best at some place of it, and good enough. */
  readonly taken: readonly Route[];
  /** The routes that are the best at some place of it, and not good enough. */
  readonly refused: readonly Route[];
}

/** @param limit metres */
export function reachOf(routes: readonly Route[], area: Area, limit: number): Reach {
  const chooser = new RouteChooser(routes);
  const [west, south, , north] = area;
  const width = widthOf(area);
  const taken = new Set<Route>();
  const refused = new Set<Route>();
  for (let i = 0; i <= steps; i++) {
    const longitude = wrapLongitude(west + (width * i) / steps);
    for (let j = 0; j <= steps; j++) {
      const best = routes[chooser.choose(longitude, south + ((north - south) * j) / steps)];
      if (best !== undefined) (isGood(best, limit) ? taken : refused).add(best);
    }
  }
  return { taken: [...taken], refused: [...refused] };
}

/** "NAD27 to WGS 84 (4), accurate to 8 m", "operations accurate to 8 to 44 m"; of unknown accuracy */
function inWords(routes: readonly Route[]): string {
  const [first] = routes;
  const accuracies = routes.flatMap(({ accuracy }) => accuracy ?? []);
  const [least, most] = [Math.min(...accuracies), Math.max(...accuracies)];
  if (accuracies.length === 0)
    return `${routes.length === 1 ? first!.name : "the best operation"}, of unknown accuracy`;
  if (routes.length === 1) return `${first!.name}, accurate to ${most} m`;
  return `the best operation at each place, accurate to ${least === most ? "" : `${least} to `}${most} m`;
}

/**
 * The least `--accuracy` that serves all that can be served, in words: "--accuracy 8 takes NAD27 to WGS 84 (4), accurate
 * to 8 m". Operations of unknown accuracy are proposed only where there are no others.
 * @param refused as in `Reach`; empty gives no words
 */
export function enoughAccuracy(refused: readonly Route[]): string[] {
  if (refused.length === 0) return [];
  const known = refused.filter(({ accuracy }) => accuracy !== null && accuracy < unknownAccuracy);
  const taken = known.length > 0 ? known : refused;
  const most = Math.max(...taken.map(({ accuracy }) => accuracy ?? unknownAccuracy));
  return [`--accuracy ${most} takes ${inWords(taken)}`];
}
