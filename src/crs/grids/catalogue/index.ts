/** The catalog of the shift grids that PROJ publishes. */
import { type Area, intersectionParts } from "../../area.js";
import { entryLines } from "./entries.js";

export interface PublishedGrid {
  /** File name, below the endpoint and on disk. */
  readonly name: string;
  /** Other names of the grid: EPSG's, and PROJ's before version 7. */
  readonly otherNames: readonly string[];
  /** The area of its nodes. */
  readonly area: Area;
  readonly bytes: number;
  /** SHA-256 of the file, in lower-case hexadecimal. */
  readonly sha256: string;
  /** An SPDX identifier, or the license's title. */
  readonly licence: string;
  /** The agency that produced it. */
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

/** Finds a grid by any of its names, ignoring case; null if PROJ publishes none. */
export function publishedGrid(name: string): PublishedGrid | null {
  if (cachedGridsByName === null) {
    const found = new Map<string, PublishedGrid>();
    // The main names take precedence over other names.
    for (const grid of publishedGrids()) for (const other of grid.otherNames) found.set(other.toLowerCase(), grid);
    for (const grid of publishedGrids()) found.set(grid.name.toLowerCase(), grid);
    cachedGridsByName = found;
  }
  return cachedGridsByName.get(name.toLowerCase()) ?? null;
}

/** Whether the grid covers a part of an area. */
export const coversPartOf = (grid: PublishedGrid, area: Area): boolean => intersectionParts(grid.area, area).length > 0;

/** The lower-case text in which `grids list` searches. */
export const searchText = ({ name, otherNames, provider, areaName, description, licence }: PublishedGrid): string =>
  [name, ...otherNames, provider, areaName, description, licence].join("\n").toLowerCase();
