import type { Area } from "../area.js";
import type { Ellipsoid } from "../definitions/definition.js";
import type { GridLocator } from "../grids/grid-locator.js";
import type { GridChoice, LongitudeLatitudeOffset, RegisteredOperation } from "../tables/registered-operations.js";
import type { CrsRegistry } from "../tables/registry.js";

export const wgs84DatumCode = "6326";

/** One step of a transformation, as plain data. */
export interface ShiftStep {
  readonly code: string | null;
  readonly name: string;
  /** Helmert values: metres, arc-seconds (position vector), ppm, pivot; empty for grids and offsets. */
  readonly values: readonly number[];
  /** Grid files in order of precedence; null means no shift. Empty if no grid is used. */
  readonly grids: readonly (string | null)[];
  /** Arc-seconds to add to longitude and latitude. */
  readonly offset: LongitudeLatitudeOffset | null;
  /** Whether the step is applied from its target to its source. */
  readonly inverse: boolean;
  /** Ellipsoid of the positions after the step. */
  readonly targetEllipsoid: Ellipsoid;
}

/** A possible transformation between two datums. */
export interface Candidate {
  readonly name: string;
  readonly inverse: boolean;
  /** Metres; null if unknown. */
  readonly accuracy: number | null;
  readonly offshore: boolean;
  readonly area: Area | null;
  readonly steps: readonly ShiftStep[];
}

/**
 * Operations that are not in EPSG's dataset: systems aligned to the ITRF, as WGS 84 is, agree with it within the 2 m that
 * EPSG states for the WGS 84 ensemble. China 2000 is ITRF97 at epoch 2000.0.
 */
const itrfAlignedOperations: readonly RegisteredOperation[] = [
  {
    source: "1043",
    target: wgs84DatumCode,
    code: "CGCS2000",
    name: "China 2000 to WGS 84, both following the ITRF",
    accuracy: 2,
    offshore: false,
    area: [73.62, 16.7, 134.77, 53.56],
    values: [0],
    grids: [],
    unsupportedGrid: null,
    offset: null,
    steps: [],
  },
];

/** The registered operations in either direction whose grids are available. */
export function findCandidates(source: string, target: string, tables: CrsRegistry, files: GridLocator): Candidate[] {
  return findDirectedOperations(source, target, tables).flatMap(({ operation, inverse }) => {
    const steps = resolveSteps(operation, inverse, tables, files);
    if (steps === null) return [];
    const { name, accuracy, offshore, area } = operation;
    return [{ name, inverse, accuracy, offshore, area, steps }];
  });
}

/**
 * Pairs of operations that use the same grid in opposite directions, such as NAD83 to WGS 84 and to NAD83(CSRS)v2 with
 * Saskatchewan's grid: they cancel out, and the file is not needed.
 */
export function findCancellingPairs(
  from: string,
  hub: string,
  to: string,
  tables: CrsRegistry,
): [Candidate, Candidate][] {
  const byGrid = (a: string, b: string) =>
    findDirectedOperations(a, b, tables).filter(({ operation }) => operation.grids.length > 0);
  const unmoved = ({ operation: { name, accuracy, offshore, area }, inverse }: DirectedOperation): Candidate => ({
    ...{ name, accuracy, offshore, area, inverse },
    steps: [],
  });
  const way = ({ operation, inverse }: DirectedOperation) => {
    const [{ file, inverse: turned }] = operation.grids as [GridChoice];
    return { file, backwards: inverse !== turned };
  };
  return byGrid(from, hub).flatMap((one) =>
    byGrid(hub, to)
      .filter((other) => way(one).file === way(other).file && way(one).backwards !== way(other).backwards)
      .map((other): [Candidate, Candidate] => [unmoved(one), unmoved(other)]),
  );
}

interface DirectedOperation {
  readonly operation: RegisteredOperation;
  readonly inverse: boolean;
}

export function findDirectedOperations(source: string, target: string, tables: CrsRegistry): DirectedOperation[] {
  const between = (from: string, to: string, inverse: boolean): DirectedOperation[] =>
    [
      ...tables.getOperations(from, to),
      ...itrfAlignedOperations.filter((entry) => entry.source === from && entry.target === to),
    ].map((operation) => ({ operation, inverse }));
  return [...between(source, target, false), ...between(target, source, true)];
}

/** The steps of an operation; null if a grid is not available. */
function resolveSteps(
  operation: RegisteredOperation,
  inverse: boolean,
  tables: CrsRegistry,
  files: GridLocator,
): ShiftStep[] | null {
  const { code, name, values, grids, unsupportedGrid, offset, steps, source, target } = operation;
  if (unsupportedGrid !== null) return null;
  if (steps.length > 0) {
    const all = (inverse ? [...steps].reverse() : steps).map((step) => {
      const found = tables.getOperation(step.code);
      return found && resolveSteps(found, inverse !== step.inverse, tables, files);
    });
    return all.every((step) => step !== null) ? all.flat() : null;
  }
  const step = { code, name, values, offset, targetEllipsoid: tables.getDatum(inverse ? source : target).ellipsoid };
  if (grids.length === 0) return [{ ...step, grids: [], inverse }];
  for (const choice of grids) {
    const path = files.find(choice.file);
    if (path !== null) return [{ ...step, grids: [path], inverse: inverse !== choice.inverse }];
  }
  return null;
}

/** A grid that an operation needs. */
export interface MissingGrid {
  /** Alternative file names, first the one that PROJ publishes. */
  readonly files: readonly string[];
  /** Whether geoferry can read its format. */
  readonly readable: boolean;
}

/** The grids of an operation that are not available. */
export function findMissingGrids(
  operation: RegisteredOperation,
  tables: CrsRegistry,
  files: GridLocator,
): MissingGrid[] {
  const { grids, unsupportedGrid, steps } = operation;
  if (unsupportedGrid !== null) return [{ files: [unsupportedGrid], readable: false }];
  if (grids.length > 0 && !grids.some(({ file }) => files.find(file) !== null))
    return [{ files: grids.map(({ file }) => file), readable: true }];
  return steps.flatMap(({ code }) => {
    const step = tables.getOperation(code);
    return step === null ? [] : findMissingGrids(step, tables, files);
  });
}
