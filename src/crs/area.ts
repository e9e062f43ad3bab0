/** West, south, east, north in degrees; west > east where it crosses the antimeridian. */
export type Area = readonly [west: number, south: number, east: number, north: number];

/** Wraps a longitude of up to one turn beyond ±180° into −180° … 180°; ±180° are kept. */
export const wrapLongitude = (degrees: number): number =>
  degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees;

export function isInArea(area: Area, longitude: number, latitude: number): boolean {
  // Indexing instead of destructuring, since this runs for every position.
  const west = area[0];
  const east = area[2];
  if (latitude < area[1] || latitude > area[3]) return false;
  return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east;
}

/** As `isInArea`, for an area that is `margin` degrees wider on every side. */
export function isNearArea(area: Area, longitude: number, latitude: number, margin: number): boolean {
  const [west, south, , north] = area;
  if (!(latitude >= south - margin && latitude <= north + margin)) return false;
  const beyondWest = longitude - west + margin;
  return beyondWest - 360 * Math.floor(beyondWest / 360) <= areaWidth(area) + 2 * margin;
}

/** The parts of an area that do not cross the antimeridian. */
const splitAtAntimeridian = (area: Area): Area[] =>
  area[0] <= area[2]
    ? [area]
    : [
        [area[0], area[1], 180, area[3]],
        [-180, area[1], area[2], area[3]],
      ];

/** The intersection of two areas, in parts that do not cross the antimeridian. */
export function intersectionParts(a: Area, b: Area): Area[] {
  const found: Area[] = [];
  for (const p of splitAtAntimeridian(a)) {
    for (const q of splitAtAntimeridian(b)) {
      const common: Area = [Math.max(p[0], q[0]), Math.max(p[1], q[1]), Math.min(p[2], q[2]), Math.min(p[3], q[3])];
      if (common[0] < common[2] && common[1] < common[3]) found.push(common);
    }
  }
  return found;
}

const spansAllLongitudes = (area: Area): boolean => area[2] - area[0] >= 360;

/**
 * The intersection of two areas as one area, which may cross the antimeridian where both do or one of them goes round the
 * earth; else the largest of its parts. Null if they have nothing in common.
 */
export function intersectAreas(a: Area, b: Area): Area | null {
  const [south, north] = [Math.max(a[1], b[1]), Math.min(a[3], b[3])];
  if (south >= north) return null;
  if (spansAllLongitudes(a)) return [b[0], south, b[2], north];
  if (spansAllLongitudes(b)) return [a[0], south, a[2], north];
  if (a[0] > a[2] && b[0] > b[2]) return [Math.max(a[0], b[0]), south, Math.min(a[2], b[2]), north];
  return intersectionParts(a, b).sort((p, q) => areaSize(q) - areaSize(p))[0] ?? null;
}

export function areaSize(area: Area): number {
  return areaWidth(area) * (Math.sin((area[3] * Math.PI) / 180) - Math.sin((area[1] * Math.PI) / 180));
}

/** Degrees of longitude. */
export const areaWidth = ([west, , east]: Area): number => east - west + (east < west ? 360 : 0);

/** The narrowest area around several; it may cross the antimeridian. */
export function enclosingArea(areas: readonly Area[]): Area {
  const south = Math.min(...areas.map((area) => area[1]));
  const north = Math.max(...areas.map((area) => area[3]));
  let best: Area = [-180, south, 180, north];
  for (const [west] of areas) {
    // Distance from this longitude to the eastern end of each area.
    const ends = areas.map((area) => ({
      east: area[2],
      span: ((((area[0] - west) % 360) + 360) % 360) + areaWidth(area),
    }));
    const { east, span } = ends.reduce((p, q) => (q.span > p.span ? q : p));
    if (span < areaWidth(best)) best = [west, south, east, north];
  }
  return best;
}

/** The share (0 to 1) of an area where a predicate is true, by sampling. */
export function coveredShare(area: Area, holds: (longitude: number, latitude: number) => boolean, steps = 24): number {
  const width = areaWidth(area);
  let covered = 0;
  for (let i = 0; i < steps; i++) {
    const longitude = wrapLongitude(area[0] + (width * (i + 0.5)) / steps);
    for (let j = 0; j < steps; j++) {
      if (holds(longitude, area[1] + ((area[3] - area[1]) * (j + 0.5)) / steps)) covered++;
    }
  }
  return covered / (steps * steps);
}
