import { type Area, areaWidth, wrapLongitude } from "../area.js";
import { type DatumTransformation, isAccurateEnough, unknownAccuracy } from "./datum-transformations.js";
import { OperationSelector } from "./operation-selector.js";

/** Steps along each side of an area, borders included. */
const samplesPerSide = 32;

/** Degrees on every side of a box of positions, so that a single position has an area. */
const marginDegrees = 1e-3;

/** A box of positions as an area that is not empty. */
export const padArea = ([west, south, east, north]: Area): Area => [
  west - marginDegrees,
  south - marginDegrees,
  east + marginDegrees,
  north + marginDegrees,
];

/** What the routes are good for in an area. */
export interface AreaSelection {
  /** The routes that are the best at some place of it, and good enough. */
  readonly accepted: readonly DatumTransformation[];
  /** The routes that are the best at some place of it, and not good enough. */
  readonly rejected: readonly DatumTransformation[];
}

/** @param limit meters */
export function selectInArea(routes: readonly DatumTransformation[], area: Area, limit: number): AreaSelection {
  const chooser = new OperationSelector(routes);
  const [west, south, , north] = area;
  const width = areaWidth(area);
  const taken = new Set<DatumTransformation>();
  const refused = new Set<DatumTransformation>();
  for (let i = 0; i <= samplesPerSide; i++) {
    const longitude = wrapLongitude(west + (width * i) / samplesPerSide);
    for (let j = 0; j <= samplesPerSide; j++) {
      const best = routes[chooser.choose(longitude, south + ((north - south) * j) / samplesPerSide)];
      if (best !== undefined) (isAccurateEnough(best, limit) ? taken : refused).add(best);
    }
  }
  return { accepted: [...taken], rejected: [...refused] };
}

/** "NAD27 to WGS 84 (4), accurate to 8 m", "operations accurate to 8 to 44 m"; of unknown accuracy */
function describeTransformations(routes: readonly DatumTransformation[]): string {
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
export function adviseAccuracy(refused: readonly DatumTransformation[]): string[] {
  if (refused.length === 0) return [];
  const known = refused.filter(({ accuracy }) => accuracy !== null && accuracy < unknownAccuracy);
  const taken = known.length > 0 ? known : refused;
  const most = Math.max(...taken.map(({ accuracy }) => accuracy ?? unknownAccuracy));
  return [`--accuracy ${most} takes ${describeTransformations(taken)}`];
}
