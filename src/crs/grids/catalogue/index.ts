/** The shift grids that PROJ publishes, as data: which there are, where they are used, and how to recognize them. */
import { type Area, intersectionParts } from "../../area.js";
import { entryLines } from "./entries.js";

export interface PublishedGrid {
  /** Of the file, below the endpoint and on disk. */
  readonly name: string;
  /** Names of the same grid elsewhere: EPSG's, and that of PROJ before version 7. */
  readonly otherNames: readonly string[];
  /** Where its nodes lie. */
  readonly area: Area;
  readonly bytes: number;
  /** Of the whole file, in lower-case hexadecimal digits. */
  readonly sha256: string;
  /** An SPDX identifier, or the license's title. */
  readonly licence: string;
  /** The agency that made it. */
  readonly provider: string;
  readonly areaName: string;
  /** "NAD27 to NAD83" */
  readonly description: string;
}

let cachedGrids: readonly PublishedGrid[] | null = null;
let cachedGridsByName: ReadonlyMap<string, PublishedGrid> | null = null;

/** All of them, by name. */
export function publishedGrids(): readonly PublishedGrid[] {
  cachedGrids ??= entryLines.trim().split("\n").map(parseCatalogueLine);
  return cachedGrids;
}

function parseCatalogueLine(line: string): PublishedGrid {
  const [name, others, area, bytes, sha256, licence, provider, areaName, description] = line.split("|") as [
    ...[string, string, string, string, string, string, string, string, string],
  ];
  return {
    name,
    otherNames: others === "" ? [] : others.split(";"),
    area: area.split(",").map(Number) as [number, number, number, number],
    bytes: Number(bytes),
    ...{ sha256, licence, provider, areaName, description },
  };
}

/** By its own or another name, in any case; null if PROJ publishes none. */
export function publishedGrid(name: string): PublishedGrid | null {
  if (cachedGridsByName === null) {
    const found = new Map<string, PublishedGrid>();
    // A name of its own goes before that of another.
    for (const grid of publishedGrids()) for (const other of grid.otherNames) found.set(other.toLowerCase(), grid);
    for (const grid of publishedGrids()) found.set(grid.name.toLowerCase(), grid);
    cachedGridsByName = found;
  }
  return cachedGridsByName.get(name.toLowerCase()) ?? null;
}

/** Whether some of an area lies on the grid. */
export const coversPartOf = (grid: PublishedGrid, area: Area): boolean => intersectionParts(grid.area, area).length > 0;

/** A grid for people who search: its name and all that is said of it, in lower case. */
export const searchText = ({ name, otherNames, provider, areaName, description, licence }: PublishedGrid): string =>
  [name, ...otherNames, provider, areaName, description, licence].join("\n").toLowerCase();
