import { type Area, areaWidth, wrapLongitude } from "../area.js";
import { type DatumTransformation, isAccurateEnough, unknownAccuracy } from "./datum-transformations.js";
import { OperationSelector } from "./operation-selector.js";

/** Samples along each side of an area, including the borders. */
const samplesPerSide = 32;

/** Margin in degrees around a box of positions, so that a single position has an area. */
const marginDegrees = 1e-3;

/** Extends a box of positions to an area that is not empty. */
export const padArea = ([west, south, east, north]: Area): Area => [
  west - marginDegrees,
  south - marginDegrees,
  east + marginDegrees,
  north + marginDegrees,
];

/** The best transformations in an area. */
export interface AreaSelection {
  /** Transformations that are the best at some place, and accurate enough. */
  readonly accepted: readonly DatumTransformation[];
  /** Transformations that are the best at some place, but not accurate enough. */
  readonly rejected: readonly DatumTransformation[];
}

/** @param limit metres */
export function selectInArea(
  transformations: readonly DatumTransformation[],
  area: Area,
  limit: number,
): AreaSelection {
  const chooser = new OperationSelector(transformations);
  const [west, south, , north] = area;
  const width = areaWidth(area);
  const taken = new Set<DatumTransformation>();
  const refused = new Set<DatumTransformation>();
  for (let i = 0; i <= samplesPerSide; i++) {
    const longitude = wrapLongitude(west + (width * i) / samplesPerSide);
    for (let j = 0; j <= samplesPerSide; j++) {
      const best = transformations[chooser.choose(longitude, south + ((north - south) * j) / samplesPerSide)];
      if (best !== undefined) (isAccurateEnough(best, limit) ? taken : refused).add(best);
    }
  }
  return { accepted: [...taken], rejected: [...refused] };
}

/** "NAD27 to WGS 84 (4), accurate to 8 m", "operations accurate to 8 to 44 m"; of unknown accuracy */
function describeTransformations(transformations: readonly DatumTransformation[]): string {
  const [first] = transformations;
  const accuracies = transformations.flatMap(({ accuracy }) => accuracy ?? []);
  const [least, most] = [Math.min(...accuracies), Math.max(...accuracies)];
  if (accuracies.length === 0)
    return `${transformations.length === 1 ? first!.name : "the best operation"}, of unknown accuracy`;
  if (transformations.length === 1) return `${first!.name}, accurate to ${most} m`;
  return `the best operation at each place, accurate to ${least === most ? "" : `${least} to `}${most} m`;
}

/**
 * Advises the lowest `--accuracy` that allows all transformations: "--accuracy 8 takes NAD27 to WGS 84 (4), accurate to 8
 * m". Proposes operations of unknown accuracy only if there are no others.
 * @param refused transformations that are not accurate enough; returns no advice if empty
 */
export function adviseAccuracy(refused: readonly DatumTransformation[]): string[] {
  if (refused.length === 0) return [];
  const known = refused.filter(({ accuracy }) => accuracy !== null && accuracy < unknownAccuracy);
  const taken = known.length > 0 ? known : refused;
  const most = Math.max(...taken.map(({ accuracy }) => accuracy ?? unknownAccuracy));
  return [`--accuracy ${most} takes ${describeTransformations(taken)}`];
}
