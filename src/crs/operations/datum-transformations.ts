import { type Area, areaSize, intersectAreas, intersectionParts } from "../area.js";
import { type Datum, isGeocentricEllipsoid } from "../definitions/definition.js";
import type { GridLocator } from "../grids/grid-locator.js";
import type { CrsRegistry } from "../tables/registry.js";
import { type Candidate, findCancellingPairs, findCandidates, type ShiftStep, wgs84DatumCode } from "./candidates.js";

/** A transformation from one datum to another, in one or more steps. */
export interface DatumTransformation {
  readonly name: string;
  /** Metres; null if unknown. */
  readonly accuracy: number | null;
  readonly area: Area | null;
  readonly offshore: boolean;
  /** Whether the area is the intersection of the areas of several operations. */
  readonly hasIntersectedArea: boolean;
  readonly steps: readonly ShiftStep[];
}

/** Direct operations in either direction or, if there are none, those through one intermediate datum. The best first. */
export function findRegisteredTransformations(
  a: Datum,
  b: Datum,
  tables: CrsRegistry,
  files: GridLocator,
  area: Area | null,
): DatumTransformation[] {
  const { code: from } = a;
  const { code: to } = b;
  if (from === null || to === null) return [];
  const direct = findCandidates(from, to, tables, files).map((candidate) => concatenate([candidate]));
  const transformations = direct.length > 0 ? direct : findTransformationsThroughHubs(from, to, tables, files);
  return sortTransformations(
    transformations.filter((candidate) => overlapsArea(candidate, area)),
    area,
  );
}

/**
 * Combines operations through every datum that EPSG connects to both, as PROJ does: a shift to ETRS89 is often better than
 * one to WGS 84. Two frames of satellite geodesy are connected through a less accurate classical network only if there is
 * no other datum (PROJ requires a datum no older than both): EPSG's shift from MGI 1901 to KOSOVAREF01 is 1.6 km off those
 * of neighboring areas.
 */
function findTransformationsThroughHubs(
  from: string,
  to: string,
  tables: CrsRegistry,
  files: GridLocator,
): DatumTransformation[] {
  const beside = tables.findConnectedDatums(to);
  // Only geoferry connects China 2000 and similar datums to WGS 84.
  const common = new Set([...tables.findConnectedDatums(from)].filter((code) => beside.has(code))).add(wgs84DatumCode);
  const hubs = [...common].filter((code) => code !== from && code !== to);
  const through = (hub: string): DatumTransformation[] => {
    const second = findCandidates(hub, to, tables, files);
    const first = second.length === 0 ? [] : findCandidates(from, hub, tables, files);
    const moving = first.flatMap((one) => second.map((other) => concatenate([one, other])));
    return [...moving, ...findCancellingPairs(from, hub, to, tables).map(concatenate)];
  };
  const isFrame = (code: string) => isGeocentricEllipsoid(tables.getDatum(code).ellipsoid);
  const byFrames = isFrame(from) && isFrame(to) ? hubs.filter(isFrame).flatMap(through) : [];
  return byFrames.length > 0 ? byFrames : hubs.flatMap(through);
}

/** Joins operations; the intersection of their areas is not marked as offshore. */
export function concatenate(candidates: readonly Candidate[]): DatumTransformation {
  let area: Area | null = null;
  let accuracy: number | null = 0;
  let empty = false;
  for (const candidate of candidates) {
    if (candidate.area) {
      const common: Area | null = area ? intersectAreas(area, candidate.area) : candidate.area;
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
    hasIntersectedArea: area !== null && candidates.every((candidate) => candidate.area?.join() !== area?.join()),
    offshore: candidates.some((candidate) => candidate.offshore && candidate.area?.join() === area?.join()),
    steps: candidates.flatMap((candidate) => candidate.steps),
  };
}

export const overlapsArea = (candidate: DatumTransformation, area: Area | null): boolean =>
  !area || !candidate.area || intersectionParts(candidate.area, area).length > 0;

/**
 * Sorts in PROJ's order: by the covered share of the area, accuracy, those without grids, the number of steps that change
 * coordinates (so that both directions choose the same), and name.
 */
export function sortTransformations(
  transformations: readonly DatumTransformation[],
  area: Area | null,
): DatumTransformation[] {
  const served = (transformation: DatumTransformation) =>
    !transformation.area
      ? Infinity
      : area
        ? intersectionParts(transformation.area, area).reduce((sum, part) => sum + areaSize(part), 0)
        : areaSize(transformation.area);
  const name = (transformation: DatumTransformation) => transformation.steps.map((step) => step.name).join();
  return [...transformations].sort((p, q) => {
    const [a, b] = [served(p), served(q)];
    if (a !== b) return b - a;
    const accuracy = (p.accuracy ?? Infinity) - (q.accuracy ?? Infinity);
    if (accuracy !== 0 && !Number.isNaN(accuracy)) return accuracy;
    if (usesGrid(p) !== usesGrid(q)) return usesGrid(p) ? 1 : -1;
    const movements = countMovingSteps(p) - countMovingSteps(q);
    if (movements !== 0) return movements;
    return name(p).length - name(q).length || (name(p) < name(q) ? 1 : -1);
  });
}

/** Number of steps that change coordinates; consecutive translations count as one, since PROJ adds them up. */
function countMovingSteps({ steps }: DatumTransformation): number {
  let count = 0;
  let afterTranslation = false;
  for (const step of steps) {
    if (isNullStep(step)) continue;
    const { grids, offset, values } = step;
    const isTranslation = grids.length === 0 && offset === null && values.slice(3).every((value) => value === 0);
    if (!isTranslation || !afterTranslation) count++;
    afterTranslation = isTranslation;
  }
  return count;
}

/** Metres: EPSG's value for an unknown accuracy. `--accuracy 999` allows operations of unknown accuracy. */
export const unknownAccuracy = 999;

export const isAccurateEnough = (candidate: DatumTransformation | undefined, limit: number): boolean =>
  candidate !== undefined && (candidate.accuracy ?? unknownAccuracy) <= limit;

export const usesGrid = (candidate: DatumTransformation): boolean =>
  candidate.steps.some((step) => step.grids.length > 0);

/** The grids that it may use. */
export const gridFilesOf = (candidate: DatumTransformation): string[] =>
  candidate.steps.flatMap((step) => step.grids.filter((file) => file !== null));

const isNullStep = ({ grids, offset, values }: ShiftStep): boolean =>
  grids.length === 0 && [...values, ...(offset ?? [])].every((value) => value === 0);

export const isNullTransformation = (candidate: DatumTransformation): boolean => candidate.steps.every(isNullStep);
