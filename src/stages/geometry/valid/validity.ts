import { type GeometryColumn, Kind, positionRange } from "../../../model/geometry.js";
import { Geos } from "./geos.js";
import { wkbWriter } from "./wkb.js";

/** A reason why a geometry is not valid. GEOS can repair it unless it is `fatal`. */
export interface ValidityProblem {
  readonly reason: string;
  readonly fatal: boolean;
}

const isPolygonal = (kind: number): boolean => kind === Kind.Polygon || kind === Kind.MultiPolygon;
const isLineal = (kind: number): boolean => kind === Kind.LineString || kind === Kind.MultiLineString;

function nonFiniteProblem(column: GeometryColumn, row: number): ValidityProblem | null {
  const { xy } = column;
  const [from, to] = positionRange(column, row);
  for (let k = 2 * from; k < 2 * to; k += 2) {
    if (Number.isFinite(xy[k]!) && Number.isFinite(xy[k + 1]!)) continue;
    return { reason: `a position is not finite: ${xy[k]} ${xy[k + 1]}`, fatal: true };
  }
  return null;
}

/** Faults of structure, with which GEOS would not make a geometry at all. */
function structuralProblem(column: GeometryColumn, row: number): ValidityProblem | null {
  const { kinds, partOffsets, ringOffsets, positionOffsets, xy } = column;
  const polygonal = isPolygonal(kinds[row]!);
  for (let r = ringOffsets[partOffsets[row]!]!; r < ringOffsets[partOffsets[row + 1]!]!; r++) {
    const first = positionOffsets[r]!;
    const last = positionOffsets[r + 1]! - 1;
    if (!polygonal && last === first) {
      return { reason: `a line of one position at ${xy[2 * first]} ${xy[2 * first + 1]}`, fatal: true };
    }
    if (!polygonal || last < first) continue;
    if (xy[2 * first] !== xy[2 * last] || xy[2 * first + 1] !== xy[2 * last + 1]) {
      return { reason: `a ring is not closed at ${xy[2 * last]} ${xy[2 * last + 1]}`, fatal: false };
    }
    if (last - first < 3) {
      return { reason: `a ring of fewer than four positions at ${xy[2 * first]} ${xy[2 * first + 1]}`, fatal: false };
    }
  }
  return null;
}

/** Why feature `row` is not valid (OGC 06-103r4, clause 6.1), null if it is; members of a collection one by one. */
export function findProblem(geos: Geos, column: GeometryColumn, row: number): ValidityProblem | null {
  const kind = column.kinds[row]!;
  if (kind === Kind.GeometryCollection) {
    const { members, memberOffsets } = column;
    if (!members || !memberOffsets) return null;
    for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) {
      const found = findProblem(geos, members, k);
      if (found) return found;
    }
    return null;
  }
  const early = nonFiniteProblem(column, row);
  if (early) return early;
  if ((!isPolygonal(kind) && !isLineal(kind)) || column.partOffsets[row] === column.partOffsets[row + 1]) return null;
  const broken = structuralProblem(column, row);
  if (broken) return broken;
  const { size, write } = wkbWriter(column, row);
  const geometry = geos.parseWkb(size, write);
  if (geometry === 0) return { reason: geos.lastError, fatal: true };
  const reason = geos.describeInvalidity(geometry);
  geos.destroy(geometry);
  return reason === null ? null : { reason, fatal: false };
}

let geosPromise: Promise<Geos> | undefined;

/** GEOS, loaded once a thread (about 60 ms). */
export function loadGeos(): Promise<Geos> {
  geosPromise ??= Geos.load();
  return geosPromise;
}

/** Tells why feature `row` of a column is not valid, and where, or null: for callers that check many. */
export async function validityChecker(): Promise<(column: GeometryColumn, row: number) => string | null> {
  const geos = await loadGeos();
  return (column, row) => findProblem(geos, column, row)?.reason ?? null;
}

/** `validityChecker` for one feature. */
export async function validityProblem(column: GeometryColumn, row: number): Promise<string | null> {
  return (await validityChecker())(column, row);
}
