import { type Area, areaSize, coveredShare, intersectionParts } from "../area.js";
import type { Datum } from "../definitions/definition.js";
import type { GridLocator } from "../grids/grid-locator.js";
import type { CrsRegistry } from "../tables/registry.js";
import { findDirectedOperations, findMissingGrids, type MissingGrid } from "./candidates.js";
import { type DatumTransformation, isAccurateEnough } from "./datum-transformations.js";
import { OperationSelector } from "./operation-selector.js";

/** A registered operation that would be better than the available ones, but lacks grids. Plain data. */
export interface BetterOperation {
  readonly name: string;
  /** Metres. */
  readonly accuracy: number;
  /** Degrees: west, south, east, north; null if EPSG does not say. */
  readonly area: Area | null;
  /** For each missing grid its alternative file names, first the one that PROJ publishes. */
  readonly grids: readonly (readonly string[])[];
  /** Whether geoferry can read their formats. */
  readonly readable: boolean;
  /** Description and advice: "NAD27 to WGS 84 (33), accurate to 2 m, needs the grid …" */
  readonly sentence: string;
}

/** Samples along each side of an area to check whether an operation is better there. */
const samplesPerSide = 8;

/** Operations with missing grids that are better somewhere in an area than the available ones. */
export function findOperationsMissingGrids(
  a: Datum,
  b: Datum,
  tables: CrsRegistry,
  files: GridLocator,
  area: Area | null,
  usable: readonly DatumTransformation[],
): BetterOperation[] {
  if (a.code === null || b.code === null) return [];
  const found = findDirectedOperations(a.code, b.code, tables).flatMap(({ operation }): BetterOperation[] => {
    const { name, accuracy, area: own } = operation;
    const missing = accuracy === null ? [] : findMissingGrids(operation, tables, files);
    if (accuracy === null || missing.length === 0) return [];
    const sentence = `${name}, accurate to ${accuracy} m, ${describeMissingGrids(missing)}`;
    const grids = missing.map(({ files: names }) => names);
    return [{ name, accuracy, area: own, grids, readable: missing.every(({ readable }) => readable), sentence }];
  });
  return selectBetterInArea(found, usable, area);
}

/**
 * Selects those that are better somewhere in an area, first those that geoferry can use, the widest first.
 * @param enough metres: an accuracy that is sufficient; without it, an operation must be better than the chosen one
 */
export function selectBetterInArea(
  operations: readonly BetterOperation[],
  usable: readonly DatumTransformation[],
  area: Area | null,
  enough?: number,
): BetterOperation[] {
  const chooser = new OperationSelector(usable);
  const gainOf = ({ area: own, accuracy }: BetterOperation): number => {
    const isServed = (longitude: number, latitude: number) =>
      isAccurateEnough(usable[chooser.choose(longitude, latitude)], enough ?? accuracy);
    const parts = own && area ? intersectionParts(own, area) : [own ?? area ?? worldArea];
    return parts.reduce((sum, part) => sum + areaSize(part) * (1 - coveredShare(part, isServed, samplesPerSide)), 0);
  };
  return operations
    .map((operation) => ({ operation, gain: gainOf(operation) }))
    .filter(({ gain }) => gain > 0)
    .sort(
      (p, q) =>
        Number(q.operation.readable) - Number(p.operation.readable) ||
        q.gain - p.gain ||
        p.operation.accuracy - q.operation.accuracy,
    )
    .map(({ operation }) => operation);
}

/**
 * Advice for more accuracy: "geoferry grids get ca_nrc_ntv2_0.tif makes it accurate to 2 m where it reaches", "47 more
 * operations need grids: --json lists all"
 */
export function adviseGrids(better: readonly BetterOperation[]): string[] {
  const [first] = better;
  if (first === undefined) return [];
  const remedy = first.readable ? describeRemedy(first) : first.sentence;
  const more = better.length - 1;
  if (more === 0) return [remedy];
  return [
    remedy,
    `${more} more ${more === 1 ? "operation needs its grid" : "operations need grids"}: --json lists all`,
  ];
}

function describeRemedy({ grids, accuracy }: BetterOperation): string {
  const names = grids.map(([file = ""]) => file);
  const command = names.every(isPublishedGridName)
    ? `geoferry grids get ${names.join(" ")}`
    : names.map((file) => `--grid ${file}`).join(" ");
  if (names.length > 1) return `${command} together make it accurate to ${accuracy} m where they reach`;
  return `${command} makes it accurate to ${accuracy} m where it reaches`;
}

const worldArea: Area = [-180, -90, 180, 90];

/** Whether a name has the form of PROJ's published grids. */
export const isPublishedGridName = (file: string): boolean => /^[a-z]{2,3}_.*\.tif$/.test(file);

function describeMissingGrid({ files, readable }: MissingGrid): string {
  const [first = "", ...others] = files;
  if (!readable) return `the grid ${first}, whose format geoferry does not support`;
  return `the grid ${first}${others.length > 0 ? ` or ${others.join(" or ")}` : ""}`;
}

/** "needs the grid ca_nrc_ntv2_0.tif or ntv2_0.gsb: geoferry grids get ca_nrc_ntv2_0.tif" */
function describeMissingGrids(missing: readonly MissingGrid[]): string {
  const names = missing.map(({ files: [file = ""] }) => file);
  const how = names.every(isPublishedGridName) ? `geoferry grids get ${names.join(" ")}` : "name the file with --grid";
  return `needs ${missing.map(describeMissingGrid).join(" and ")}${missing.every(({ readable }) => readable) ? `: ${how}` : ""}`;
}
