import { type Datum, type Ellipsoid, isGeocentricEllipsoid, isSameEllipsoid } from "../definitions/definition.js";
import type { Grid } from "../grids/grid.js";
import type { LongitudeLatitudeOffset } from "../tables/registered-operations.js";
import { wgs84DatumCode } from "./candidates.js";
import { type DatumTransformation, isAccurateEnough, usesGrid } from "./datum-transformations.js";
import { applyHelmert, createHelmert, type Helmert } from "./helmert.js";
import type { Operation } from "./operation.js";
import { OperationSelector } from "./operation-selector.js";
import type { PositionCounter } from "./position-counter.js";

/**
 * Transforms positions `from`…`to` (longitude and latitude in radians) in place from one datum to another; `z` has a height
 * for each, NaN if there is none. Positions that cannot be transformed become NaN.
 */
export type DatumShift = (xy: Float64Array, z: Float64Array | null, from: number, to: number) => void;

/**
 * Builds the shift between the datums, which chooses a transformation for each position if they have limited areas; null if
 * coordinates do not change.
 * @param tally counts the positions by transformation, those without one, and those outside the area of their
 *   transformation (not for grids, which define their own area). A transformation that is used everywhere is not counted here.
 * @throws grid-invalid
 */
export async function buildDatumShift(
  operation: Operation,
  from: Datum,
  to: Datum,
  tally: PositionCounter,
): Promise<DatumShift | null> {
  const { transformations, ignoresArea, accuracyLimit } = operation;
  if (transformations.length === 0) return null;
  const good = transformations.map((transformation) => isAccurateEnough(transformation, accuracyLimit));
  // Grids of transformations that are never used are not read.
  const chains = await Promise.all(
    transformations.map((transformation, index) =>
      good[index] ? buildChain(transformation, from.ellipsoid, to.ellipsoid, operation) : [],
    ),
  );
  if (transformations.length === 1 && good[0]) {
    const [chain] = chains as [DatumShift[]];
    if (ignoresArea) return chain.length === 0 ? null : (xy, z, first, last) => applyChain(chain, xy, z, first, last);
    return usesGrid(transformations[0]!)
      ? shiftByOneGrid(transformations, chain, tally)
      : shiftByOneTransformation(transformations, chain, tally);
  }
  return shiftByPosition(transformations, good, chains, tally, selectsByTarget(from, to));
}

function shiftByOneTransformation(
  transformations: readonly DatumTransformation[],
  chain: readonly DatumShift[],
  tally: PositionCounter,
): DatumShift {
  const chooser = new OperationSelector(transformations);
  return (xy, z, first, last) => {
    for (let i = first; i < last; i++) {
      if (chooser.chooseAt(xy, i, null) < 0) {
        tally.addUnserved(xy, i);
        xy[2 * i + 1] = Number.NaN;
      } else {
        tally.add(0, xy, i);
        if (chooser.isOutsideArea) tally.outsideAreaCount++;
      }
    }
    applyChain(chain, xy, z, first, last);
  };
}

function shiftByOneGrid(
  transformations: readonly DatumTransformation[],
  chain: readonly DatumShift[],
  tally: PositionCounter,
): DatumShift {
  const chooser = new OperationSelector(transformations);
  const start = new Float64Array(2);
  return (xy, z, first, last) => {
    for (let i = first; i < last; i++) {
      start[0] = xy[2 * i]!;
      start[1] = xy[2 * i + 1]!;
      if (chooser.chooseAt(xy, i, null) < 0) xy[2 * i + 1] = Number.NaN;
      else applyChain(chain, xy, z, i, i + 1);
      if (isNaNPosition(xy, i)) tally.addUnserved(start, 0);
      else tally.add(0, start, 0);
    }
  };
}

function applyChain(
  chain: readonly DatumShift[],
  xy: Float64Array,
  z: Float64Array | null,
  from: number,
  to: number,
): void {
  for (let k = 0; k < chain.length; k++) chain[k]!(xy, z, from, to);
}

/**
 * Whether the transformation is chosen by the transformed position. Both directions choose by the same datum; otherwise a
 * position near the border of an area would be transformed by one operation and back by another. The datum is WGS 84, in
 * which areas of use are defined, or the one that is closer to it.
 */
function selectsByTarget(from: Datum, to: Datum): boolean {
  const rank = ({ code, ellipsoid }: Datum) => (code === wgs84DatumCode ? 0 : isGeocentricEllipsoid(ellipsoid) ? 1 : 2);
  return rank(to) < rank(from) || (rank(to) === rank(from) && (to.code ?? to.name) < (from.code ?? from.name));
}

/** Chooses a transformation for each position; if its grid has no shift there, uses the next best one, as PROJ does. */
function shiftByPosition(
  transformations: readonly DatumTransformation[],
  good: readonly boolean[],
  chains: readonly (readonly DatumShift[])[],
  tally: PositionCounter,
  onArrival: boolean,
): DatumShift {
  const chooser = new OperationSelector(transformations);
  const byGrid = transformations.map(usesGrid);
  const without = new Uint8Array(transformations.length);
  const start = new Float64Array(2);
  const arrived = new Float64Array(2);
  /** Chooses by the transformed position: repeats with the transformation of the new position if that is another one. */
  const settled = (xy: Float64Array, z: Float64Array | null, i: number, found: number): number => {
    const other = chooser.chooseAt(xy, i, without);
    if (other === found || other < 0 || !good[other]) return found;
    arrived[0] = xy[2 * i]!;
    arrived[1] = xy[2 * i + 1]!;
    setPosition(xy, i, start);
    applyChain(chains[other]!, xy, z, i, i + 1);
    if (!isNaNPosition(xy, i) && chooser.chooseAt(xy, i, without) === other) return other;
    // Each transformation leads to a position where the other is chosen: keeps the first.
    setPosition(xy, i, arrived);
    return found;
  };
  /** If no transformation is chosen for the source position, finds one that is chosen at its transformed position. */
  const arriving = (xy: Float64Array, z: Float64Array | null, i: number): number => {
    for (let transformation = 0; transformation < transformations.length; transformation++) {
      if (!good[transformation]) continue;
      applyChain(chains[transformation]!, xy, z, i, i + 1);
      const isChosen = !isNaNPosition(xy, i) && chooser.chooseAt(xy, i, null) === transformation;
      setPosition(xy, i, start);
      if (isChosen) return transformation;
    }
    return -1;
  };
  return (xy, z, first, last) => {
    for (let i = first; i < last; i++) {
      start[0] = xy[2 * i]!;
      start[1] = xy[2 * i + 1]!;
      let found = chooser.chooseAt(xy, i, null);
      if (found < 0 && onArrival) found = arriving(xy, z, i);
      let passed = 0;
      for (;;) {
        if (found < 0 || !good[found]) {
          tally.addUnserved(start, 0);
          xy[2 * i] = Number.NaN;
          break;
        }
        applyChain(chains[found]!, xy, z, i, i + 1);
        if (!isNaNPosition(xy, i)) {
          const wasBeside = chooser.isOutsideArea;
          const taken = onArrival ? settled(xy, z, i, found) : found;
          const isBeside = taken === found ? wasBeside : chooser.isOutsideArea;
          tally.add(taken, start, 0);
          if (isBeside && !byGrid[taken]) tally.outsideAreaCount++;
          break;
        }
        if (!byGrid[found]) break;
        without[found] = 1;
        passed++;
        setPosition(xy, i, start);
        found = chooser.chooseAt(xy, i, without);
      }
      if (passed > 0) without.fill(0);
    }
  };
}

function setPosition(xy: Float64Array, i: number, position: Float64Array): void {
  xy[2 * i] = position[0]!;
  xy[2 * i + 1] = position[1]!;
}

const isNaNPosition = (xy: Float64Array, i: number): boolean =>
  Number.isNaN(xy[2 * i]!) || Number.isNaN(xy[2 * i + 1]!);

/** GRS 80 and WGS 84 differ by a tenth of a millimetre in b, so that a shift of zeros between them changes nothing. */
function areEquivalentEllipsoids(a: Ellipsoid, b: Ellipsoid): boolean {
  return (
    isSameEllipsoid(a, b) || (Math.abs(a.a - b.a) < 1e-3 && Math.abs(a.inverseFlattening - b.inverseFlattening) < 1e-5)
  );
}

/** Builds the steps; without any, longitudes and latitudes are kept, even if the ellipsoids differ. */
async function buildChain(
  transformation: DatumTransformation,
  from: Ellipsoid,
  to: Ellipsoid,
  { loadedGrids = {} }: Pick<Operation, "loadedGrids">,
): Promise<DatumShift[]> {
  const chain: DatumShift[] = [];
  let shifts: Helmert[] = [];
  let before = from;
  const finishShifts = () => {
    const all = shifts;
    if (all.length > 0) chain.push((xy, z, first, last) => applyHelmert(all, xy, z, first, last));
    shifts = [];
  };
  for (const [index, step] of transformation.steps.entries()) {
    const after = index === transformation.steps.length - 1 ? to : step.targetEllipsoid;
    if (step.grids.length > 0) {
      finishShifts();
      chain.push(await gridShift(step.grids, step.inverse, loadedGrids));
    } else if (step.offset !== null) {
      finishShifts();
      chain.push(offsetShift(step.offset, step.inverse));
    } else if (step.values.some((value) => value !== 0) || !areEquivalentEllipsoids(before, after))
      shifts.push(createHelmert(step.values, step.inverse, before, after));
    before = after;
  }
  finishShifts();
  return chain;
}

/** EPSG's guidance note 7-2, 2.4.4.3 (method 9619). */
function offsetShift(offset: LongitudeLatitudeOffset, inverse: boolean): DatumShift {
  const [east, north] = offset.map((seconds) => ((inverse ? -seconds : seconds) * Math.PI) / 648000) as [
    number,
    number,
  ];
  return (xy, _z, first, last) => {
    for (let i = first; i < last; i++) {
      xy[2 * i] = xy[2 * i]! + east;
      xy[2 * i + 1] = xy[2 * i + 1]! + north;
    }
  };
}

async function gridShift(
  files: readonly (string | null)[],
  inverse: boolean,
  known: Readonly<Record<string, Grid>>,
): Promise<DatumShift> {
  const [{ GridShift }, { loadGrid }] = await Promise.all([
    import("../grids/grid-shift.js"),
    import("../grids/load.js"),
  ]);
  const grids = await Promise.all(files.map((file) => (file === null ? null : (known[file] ?? loadGrid(file)))));
  const shifts = new GridShift(grids, inverse);
  return (xy, _z, first, last) => {
    for (let i = first; i < last; i++) shifts.apply(xy, i);
  };
}
