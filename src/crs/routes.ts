import { type Area, commonParts, inArea, nearArea, sizeOf } from "./area.js";
import type { Datum } from "./definition.js";
import type { RegisteredOperation } from "./registered-operations.js";
import type { Registry } from "./registry.js";

const zero: readonly number[] = [0];
export const wgs84Datum = "6326";

/** One shift, as plain data. */
export interface ShiftStep {
  readonly code: string | null;
  readonly name: string;
  /** Metres, arc-seconds (position vector), ppm, pivot; empty for one that is only named because it needs a grid. */
  readonly values: readonly number[];
  /** From its target to its source. */
  readonly inverse: boolean;
}

/** A way from one datum to the other. */
export interface Route {
  readonly name: string;
  /** Metres; null where unknown. */
  readonly accuracy: number | null;
  readonly area: Area | null;
  readonly offshore: boolean;
  readonly steps: readonly ShiftStep[];
}

/** Direct operations in either direction; only where there are none, those through WGS84. The best first. */
export function routesBetween(a: Datum, b: Datum, tables: Registry, area: Area | null): Route[] {
  if (a.code === null || b.code === null) return [];
  const direct = steps(a.code, b.code, tables);
  const routes =
    direct.length > 0
      ? direct.map((step) => route([step]))
      : a.code === wgs84Datum || b.code === wgs84Datum
        ? []
        : steps(a.code, wgs84Datum, tables).flatMap((first) =>
            steps(wgs84Datum, b.code!, tables).map((second) => route([first, second])),
          );
  return order(
    routes.filter((candidate) => touches(candidate, area)),
    area,
  );
}

/**
 * Not in EPSG's dataset, yet sure: systems that follow the ITRF, as WGS84 does, and so agree with it within the 2 m that
 * EPSG gives the WGS84 ensemble itself. China 2000 is ITRF97 at epoch 2000.0.
 */
const aligned: readonly RegisteredOperation[] = [
  {
    source: "1043",
    target: wgs84Datum,
    code: "CGCS2000",
    name: "China 2000 to WGS 84, both following the ITRF",
    accuracy: 2,
    offshore: false,
    area: [73.62, 16.7, 134.77, 53.56],
    values: zero,
    grid: null,
  },
];

/** A shift with what is known of it. */
export interface Candidate extends ShiftStep {
  readonly accuracy: number | null;
  readonly offshore: boolean;
  readonly area: Area | null;
}

export function steps(source: string, target: string, tables: Registry): Candidate[] {
  const between = (from: string, to: string, inverse: boolean): Candidate[] =>
    [...tables.operations(from, to), ...aligned.filter((entry) => entry.source === from && entry.target === to)]
      .filter((operation) => operation.grid === null)
      .map((operation) => ({ ...operation, inverse }));
  return [...between(source, target, false), ...between(target, source, true)];
}

export function route(candidates: readonly Candidate[]): Route {
  let area: Area | null = null;
  let accuracy: number | null = 0;
  let empty = false;
  for (const candidate of candidates) {
    if (candidate.area) {
      const common: Area | null = area ? (commonParts(area, candidate.area)[0] ?? null) : candidate.area;
      if (!common) empty = true;
      area = common ?? area;
    }
    accuracy = accuracy === null || candidate.accuracy === null ? null : accuracy + candidate.accuracy;
  }
  return {
    name: candidates
      .map((candidate) => (candidate.inverse ? `inverse of ${candidate.name}` : candidate.name))
      .join(", then "),
    accuracy: empty ? null : accuracy,
    area,
    offshore: candidates.some((candidate) => candidate.offshore),
    steps: candidates.map(({ code, name, values, inverse }) => ({ code, name, values, inverse })),
  };
}

export const touches = (candidate: Route, area: Area | null): boolean =>
  !area || !candidate.area || commonParts(candidate.area, area).length > 0;

/**
 * PROJ's order: those that serve most of the area first, then the more accurate, then by name. Of two that are alike
 * otherwise the one that moves nothing goes first, so that both directions choose the same.
 */
export function order(routes: readonly Route[], area: Area | null): Route[] {
  const served = (route: Route) =>
    !route.area
      ? Infinity
      : area
        ? commonParts(route.area, area).reduce((sum, part) => sum + sizeOf(part), 0)
        : sizeOf(route.area);
  const name = (route: Route) => route.steps.map((step) => step.name).join();
  return [...routes].sort((p, q) => {
    const [a, b] = [served(p), served(q)];
    if (a !== b) return b - a;
    const accuracy = (p.accuracy ?? Infinity) - (q.accuracy ?? Infinity);
    if (accuracy !== 0 && !Number.isNaN(accuracy)) return accuracy;
    if (isNull(p) !== isNull(q)) return isNull(p) ? -1 : 1;
    return name(p).length - name(q).length || (name(p) < name(q) ? 1 : -1);
  });
}

/**
 * Degrees beyond its area to which a route is still used where no other reaches: areas are drawn around countries, data
 * around what lies in and beside them. Over 111 km the networks of classical surveys stretch by 10 to 20 parts in a
 * million, which is a metre or two.
 */
export const margin = 1;

/**
 * The route for a position, as PROJ chooses it: of those in whose area it lies the most accurate; of equally accurate
 * ones the first, unless a later one's area lies inside that one's. Beside all of them the most accurate one near, if
 * no other is as good. −1 where there is none, where PROJ takes the first all the same or a ballpark.
 */
export function chooseRoute(routes: readonly Route[], longitude: number, latitude: number): number {
  let best = -1;
  for (let i = 0; i < routes.length; i++) {
    const { area, accuracy, offshore } = routes[i]!;
    if (area && !inArea(area, longitude, latitude)) continue;
    if (best < 0) best = i;
    else if (!offshore && accuracy !== null) {
      const had = routes[best]!;
      const tied = accuracy === had.accuracy && area !== null && had.area !== null && inside(area, had.area);
      if (accuracy < (had.accuracy ?? Infinity) || tied) best = i;
    }
  }
  return best < 0 ? routeNear(routes, longitude, latitude) : best;
}

function routeNear(routes: readonly Route[], longitude: number, latitude: number): number {
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < routes.length; i++) {
    const { area, accuracy } = routes[i]!;
    if (!area || !nearArea(area, longitude, latitude, margin)) continue;
    const known = accuracy ?? unknownAccuracy;
    if (known <= least) best = known < least ? i : -1;
    least = Math.min(least, known);
  }
  return best;
}

const inside = (inner: Area, outer: Area): boolean =>
  inner[0] > outer[0] && inner[1] > outer[1] && inner[2] < outer[2] && inner[3] < outer[3];

/** Metres: EPSG's own figure where an accuracy is unknown. Who asks for no better takes what nobody knows. */
export const unknownAccuracy = 999;

export const isGood = (candidate: Route | undefined, limit: number): boolean =>
  candidate !== undefined && (candidate.accuracy ?? unknownAccuracy) <= limit;

export const isNull = (candidate: Route): boolean =>
  candidate.steps.every((step) => step.values.every((value) => value === 0));

/** A registered operation that is better than those at hand but needs a grid. */
export function betterGrid(
  a: Datum,
  b: Datum,
  tables: Registry,
  area: Area | null,
  usable: readonly Route[],
): RegisteredOperation | null {
  if (a.code === null || b.code === null) return null;
  const best = Math.min(...usable.map((candidate) => candidate.accuracy ?? Infinity));
  return (
    [...tables.operations(a.code, b.code), ...tables.operations(b.code, a.code)]
      .filter((operation) => operation.grid !== null && operation.accuracy !== null && operation.accuracy < best)
      .filter((operation) => !area || !operation.area || commonParts(operation.area, area).length > 0)
      .sort((p, q) => p.accuracy! - q.accuracy!)[0] ?? null
  );
}
