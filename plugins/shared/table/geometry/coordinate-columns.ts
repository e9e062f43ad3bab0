/** Finds coordinate columns by their names and by the range of their values. */
import type { Crs } from "../../../../src/model/layer.js";
import type { ReadContext } from "../../../../src/plugin/format.js";
import { type AxisWord, type CoordinateName, NameStrength, parseCoordinateName } from "./coordinate-names.js";

/** Two columns that may hold the coordinates. */
export interface CoordinatePair {
  readonly x: number;
  readonly y: number;
  readonly kind: AxisWord["kind"];
  readonly strength: number;
  readonly rank: number;
}

/** Statistics of the values of a pair. */
export interface PairStatistics {
  /** Rows with a number in both columns. */
  readonly rows: number;
  /** Whether both columns are empty in all rows. */
  readonly isBlank: boolean;
  /** Share of rows with a number in both columns, of those with a value in at least one. */
  readonly numeric: number;
  /** Share of the positions in the area of use of the CRS, or within the range of degrees if the area is unknown. */
  readonly inside: number;
  /** The same with x and y swapped. */
  readonly exchanged: number;
  /** Whether the CRS has an area of use that can reject positions. */
  readonly isTested: boolean;
  /** Whether most numbers have three decimals or more, which degrees have and counts do not. */
  readonly isFine: boolean;
  /** Whether the numbers are as large as eastings and northings in metres. */
  readonly isLarge: boolean;
}

type Position = readonly [x: number, y: number];

/** Limit of the columns compared with each other per axis. */
const maxColumns = 50;

interface NamedColumn {
  readonly column: number;
  readonly name: CoordinateName;
}

/** Pairs of columns by their names, the likeliest first. */
export function findPairsByName(names: readonly string[]): CoordinatePair[] {
  const named: Record<"x" | "y", NamedColumn[]> = { x: [], y: [] };
  for (const [column, text] of names.entries()) {
    const name = parseCoordinateName(text);
    if (!name) continue;
    const { axis } = name.readings[0]!;
    if (named[axis].length < maxColumns) named[axis].push({ column, name });
  }
  const pairs: (CoordinatePair & { readonly distance: number })[] = [];
  for (const x of named.x) {
    for (const y of named.y) {
      const read = matchAxisWords(x.name, y.name);
      if (!read || x.name.rest !== y.name.rest) continue;
      pairs.push({ x: x.column, y: y.column, ...read, distance: Math.abs(x.column - y.column) });
    }
  }
  return pairs
    .sort((a, b) => b.strength - a.strength || a.rank - b.rank || a.distance - b.distance || a.x - b.x)
    .map(({ distance: _, ...pair }) => pair);
}

/** The only column with a name that coordinates alone have, if no column has a name for the other axis. */
export function findLoneCoordinate(
  names: readonly string[],
): { readonly column: number; readonly axis: "x" | "y" } | null {
  const found = [...names.entries()].flatMap(([column, text]) => {
    const readings = parseCoordinateName(text)?.readings ?? [];
    const isSure = readings.some(({ kind, strength }) => kind !== "letters" && strength === NameStrength.sure);
    return isSure ? [{ column, axis: readings[0]!.axis }] : [];
  });
  return found.length === 1 ? found[0]! : null;
}

/** Matches two names: words of the same table row, or of the same kind. */
function matchAxisWords(
  x: CoordinateName,
  y: CoordinateName,
): Pick<CoordinatePair, "kind" | "strength" | "rank"> | null {
  let best: Pick<CoordinatePair, "kind" | "strength" | "rank"> | null = null;
  for (const a of x.readings) {
    for (const b of y.readings) {
      // A weak word means a coordinate only together with its own counterpart, or with a sure word of any language.
      const isSupported =
        Math.min(a.strength, b.strength) > NameStrength.weak || Math.max(a.strength, b.strength) === NameStrength.sure;
      const fits = a.rank === b.rank || (a.kind === b.kind && isSupported);
      if (!fits) continue;
      const own = a.rank === b.rank ? Math.max(a.strength, b.strength) : Math.min(a.strength, b.strength);
      const strength = x.isQualified && y.isQualified ? NameStrength.sure : own;
      const rank = Math.max(a.rank, b.rank);
      if (!best || strength > best.strength || (strength === best.strength && rank < best.rank))
        best = { kind: a.kind, strength, rank };
    }
  }
  return best;
}

const isDegrees = (x: number, y: number) => Math.abs(x) <= 180 && Math.abs(y) <= 90;
/** Metres: less than almost any easting or northing of national grids, except at the edges of some. */
const minMetres = 10_000;
/** Eastings may be prefixed with the zone number. */
const maxMetres = 1e8;

const hasDecimals = (value: number): boolean => /\.\d{3,}$/.test(String(value));

type CrsLookup = Pick<ReadContext, "crs" | "swapsXy">;

/** Share of positions in the area of use of their CRS; null if it has no area that can reject positions. */
async function shareInside(
  found: readonly Position[],
  crs: Crs | null,
  { crs: systems }: CrsLookup,
): Promise<number | null> {
  if (found.length === 0) return null;
  const share = found.filter(([x, y]) => isDegrees(x, y)).length / found.length;
  if (!crs) return share;
  const inside = await systems.computeShareInArea(crs, Float64Array.from(found.flat()));
  return inside === null && crs.kind === "geographic" ? share : inside;
}

const swapAxes = (found: readonly Position[]): Position[] => found.map(([x, y]) => [y, x]);

/** Measures the values of a pair; `crs` is the declared CRS of the coordinates. */
export async function measurePair(
  all: readonly Position[],
  crs: Crs | null,
  systems: CrsLookup,
): Promise<PairStatistics> {
  const found = all.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  const rows = found.length;
  const share = (holds: (position: Position) => boolean) => (rows === 0 ? 0 : found.filter(holds).length / rows);
  const { swapsXy = false } = systems;
  const inside = await shareInside(swapsXy ? swapAxes(found) : found, crs, systems);
  const exchanged = swapsXy ? 0 : await shareInside(swapAxes(found), crs, systems);
  return {
    rows,
    isBlank: all.length === 0,
    numeric: all.length === 0 ? 0 : rows / all.length,
    inside: inside ?? (rows > 0 ? 1 : 0),
    exchanged: exchanged ?? 0,
    isTested: crs !== null && crs.kind === "projected" && inside !== null,
    isFine: share(([x, y]) => hasDecimals(x) && hasDecimals(y)) >= 0.5,
    isLarge: share(([x, y]) => isMetres(x) && isMetres(y)) > 0.9,
  };
}

const isMetres = (value: number) => Math.abs(value) >= minMetres && Math.abs(value) < maxMetres;

/** Limit of neighboring columns compared by their values alone. */
const maxNeighbors = 40;

/** A pair of columns, and whether the order of the two is certain. */
type PairByValues = readonly [x: number, y: number, isOrderSure: boolean];

/** Adjacent numeric columns that may be coordinates, regardless of their names, for the advice of errors; eastings first. */
export async function findPairsByValues(
  numeric: readonly number[],
  valuesOf: (x: number, y: number) => readonly Position[],
  crs: Crs | null,
  systems: CrsLookup,
): Promise<PairByValues[]> {
  const pairs: PairByValues[] = [];
  for (const [at, x] of numeric.slice(0, maxNeighbors).entries()) {
    const y = numeric[at + 1];
    if (y !== x + 1) continue;
    const { rows, inside, exchanged, isTested, isFine, isLarge } = await measurePair(valuesOf(x, y), crs, systems);
    if (rows === 0) continue;
    if (isTested) {
      if (inside >= 0.9) pairs.push([x, y, true]);
      else if (exchanged >= 0.9) pairs.push([y, x, true]);
    } else if (isFine && inside >= 0.9) pairs.push([x, y, exchanged < 0.9]);
    else if (isFine && exchanged >= 0.9) pairs.push([y, x, true]);
    else if (isLarge) pairs.push(isNorthingFirst(valuesOf(x, y)) ? [y, x, false] : [x, y, false]);
  }
  return pairs;
}

/** Whether the first of the two numbers is always the greater, as northings mostly are. */
const isNorthingFirst = (found: readonly Position[]): boolean => found.every(([x, y]) => x > y);
