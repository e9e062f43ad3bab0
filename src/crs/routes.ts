import { type Area, commonParts, sizeOf } from "./area.js";
import { type Candidate, candidatesBetween, type ShiftStep, wgs84Datum } from "./candidates.js";
import type { Datum } from "./definition.js";
import type { GridFiles } from "./grids/grid-files.js";
import type { Registry } from "./registry.js";

/** A way from one datum to the other. */
export interface Route {
  readonly name: string;
  /** Metres; null where unknown. */
  readonly accuracy: number | null;
  readonly area: Area | null;
  readonly offshore: boolean;
  readonly steps: readonly ShiftStep[];
}

/** Direct operations in either direction; only where there are none, those through one more datum. The best first. */
export function routesBetween(a: Datum, b: Datum, tables: Registry, files: GridFiles, area: Area | null): Route[] {
  const { code: from } = a;
  const { code: to } = b;
  if (from === null || to === null) return [];
  const direct = candidatesBetween(from, to, tables, files).map((candidate) => route([candidate]));
  const routes = direct.length > 0 ? direct : routesThroughHubs(from, to, tables, files);
  return order(
    routes.filter((candidate) => touches(candidate, area)),
    area,
  );
}

/** Through every datum that EPSG joins to both, as PROJ does: a shift of ETRS89 is often better than one of WGS84. */
function routesThroughHubs(from: string, to: string, tables: Registry, files: GridFiles): Route[] {
  const beside = tables.datumsBeside(to);
  // China 2000 and the like are joined to it by geoferry alone.
  const hubs = new Set([...tables.datumsBeside(from)].filter((code) => beside.has(code))).add(wgs84Datum);
  return [...hubs]
    .filter((code) => code !== from && code !== to)
    .flatMap((hub) => {
      const second = candidatesBetween(hub, to, tables, files);
      if (second.length === 0) return [];
      return candidatesBetween(from, hub, tables, files).flatMap((one) => second.map((other) => route([one, other])));
    });
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
    steps: candidates.flatMap((candidate) => candidate.steps),
  };
}

export const touches = (candidate: Route, area: Area | null): boolean =>
  !area || !candidate.area || commonParts(candidate.area, area).length > 0;

/**
 * PROJ's order: those that serve most of the area first, then the more accurate, then those without grids, then by name.
 * Of two that are alike otherwise the one that moves nothing goes first, so that both directions choose the same.
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
    if (hasGrid(p) !== hasGrid(q)) return hasGrid(p) ? 1 : -1;
    if (isNull(p) !== isNull(q)) return isNull(p) ? -1 : 1;
    return name(p).length - name(q).length || (name(p) < name(q) ? 1 : -1);
  });
}

/** Metres: EPSG's own figure where an accuracy is unknown. Who asks for no better takes what nobody knows. */
export const unknownAccuracy = 999;

export const isGood = (candidate: Route | undefined, limit: number): boolean =>
  candidate !== undefined && (candidate.accuracy ?? unknownAccuracy) <= limit;

export const hasGrid = (candidate: Route): boolean => candidate.steps.some((step) => step.grids.length > 0);

/** The grids that it may use. */
export const filesOf = (candidate: Route): string[] =>
  candidate.steps.flatMap((step) => step.grids.filter((file) => file !== null));

export const isNull = (candidate: Route): boolean =>
  candidate.steps.every((step) => step.grids.length === 0 && step.values.every((value) => value === 0));
