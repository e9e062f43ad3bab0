import { type Area, commonParts, coverage, sizeOf } from "./area.js";
import { missingGrids, type NeededGrid, operationsBetween } from "./candidates.js";
import type { Datum } from "./definition.js";
import type { GridFiles } from "./grids/grid-files.js";
import type { Registry } from "./registry.js";
import { RouteChooser } from "./route-chooser.js";
import { isGood, type Route } from "./routes.js";

/** A registered operation that would be better than those at hand, but for its grids. */
export interface Lacking {
  readonly name: string;
  /** Metres. */
  readonly accuracy: number;
  readonly area: Area | null;
  readonly missing: readonly NeededGrid[];
  /** What it is and how to get it: "NAD27 to WGS 84 (33), accurate to 2 m, needs the grid …" */
  readonly sentence: string;
}

/** It as data: of each grid that it lacks the names of the files of which any one does it. */
export interface BetterOperation {
  readonly name: string;
  /** Metres. */
  readonly accuracy: number;
  readonly grids: readonly (readonly string[])[];
  readonly sentence: string;
}

export const betterOperations = (lacking: readonly Lacking[]): BetterOperation[] =>
  lacking.map(({ name, accuracy, missing, sentence }) => ({
    name,
    accuracy,
    sentence,
    grids: missing.map(({ files }) => files),
  }));

/** Samples along each side of an area: enough to see whether an operation is better anywhere in it. */
const fewSamples = 8;

/** Those that are better somewhere than what is chosen there; those that geoferry could use first, the widest of them. */
export function lackingGrids(
  a: Datum,
  b: Datum,
  tables: Registry,
  files: GridFiles,
  area: Area | null,
  usable: readonly Route[],
): Lacking[] {
  if (a.code === null || b.code === null) return [];
  const chooser = new RouteChooser(usable);
  const found: { readonly lacking: Lacking; readonly gain: number }[] = [];
  for (const { operation } of operationsBetween(a.code, b.code, tables)) {
    const { name, accuracy, area: own } = operation;
    const missing = accuracy === null ? [] : missingGrids(operation, tables, files);
    if (accuracy === null || missing.length === 0) continue;
    const served = own && area ? commonParts(own, area) : [own ?? area ?? everywhere];
    const isServed = (longitude: number, latitude: number) =>
      isGood(usable[chooser.choose(longitude, latitude)], accuracy);
    const gains = served.map((part) => sizeOf(part) * (1 - coverage(part, isServed, fewSamples)));
    const gain = gains.reduce((sum, part) => sum + part, 0);
    if (gain === 0) continue;
    const sentence = `${name}, accurate to ${accuracy} m, ${needs(missing)}`;
    found.push({ lacking: { name, accuracy, area: own, missing, sentence }, gain });
  }
  const isReadable = ({ missing }: Lacking) => missing.every(({ readable }) => readable);
  return found
    .sort(
      (p, q) =>
        Number(isReadable(q.lacking)) - Number(isReadable(p.lacking)) ||
        q.gain - p.gain ||
        p.lacking.accuracy - q.lacking.accuracy,
    )
    .map(({ lacking }) => lacking);
}

/**
 * What to do for more accuracy, in words: "geoferry grids get ca_nrc_ntv2_0.tif makes it accurate to 2 m where it
 * reaches", "47 more operations need grids: --json lists all"
 */
export function remedies(better: readonly Lacking[]): string[] {
  const [first] = better;
  if (first === undefined) return [];
  const isReadable = first.missing.every(({ readable }) => readable);
  const remedy = isReadable ? getting(first) : first.sentence;
  const more = better.length - 1;
  if (more === 0) return [remedy];
  return [
    remedy,
    `${more} more ${more === 1 ? "operation needs its grid" : "operations need grids"}: --json lists all`,
  ];
}

function getting({ missing, accuracy }: Lacking): string {
  const names = missing.map(({ files: [file = ""] }) => file);
  const command = names.every(isPublished)
    ? `geoferry grids get ${names.join(" ")}`
    : names.map((file) => `--grid ${file}`).join(" ");
  if (names.length > 1) return `${command} together make it accurate to ${accuracy} m where they reach`;
  return `${command} makes it accurate to ${accuracy} m where it reaches`;
}

const everywhere: Area = [-180, -90, 180, 90];

/** Whether it is the name of a file that PROJ publishes, as those in its database are. */
export const isPublished = (file: string): boolean => /^[a-z]{2,3}_.*\.tif$/.test(file);

function inWords({ files, readable }: NeededGrid): string {
  const [first = "", ...others] = files;
  if (!readable) return `the grid ${first}, which is of a kind that geoferry does not read`;
  return `the grid ${first}${others.length > 0 ? ` or ${others.join(" or ")}` : ""}`;
}

/** "needs the grid ca_nrc_ntv2_0.tif or ntv2_0.gsb: geoferry grids get ca_nrc_ntv2_0.tif" */
function needs(missing: readonly NeededGrid[]): string {
  const names = missing.map(({ files: [file = ""] }) => file);
  const how = names.every(isPublished) ? `geoferry grids get ${names.join(" ")}` : "name the file with --grid";
  return `needs ${missing.map(inWords).join(" and ")}${missing.every(({ readable }) => readable) ? `: ${how}` : ""}`;
}
