/** Finds the published grids that would make a reprojection more accurate. */
import { coversPartOf, type PublishedGrid, publishedGrid } from "../../crs/grids/index.js";
import { type Area, findOperation, geographicBox, type OperationOptions } from "../../crs/index.js";
import { GeoferryError } from "../../errors.js";
import type { Extent } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import type { OperationReport } from "../report.js";

type BetterOperations = OperationReport["better"];

/**
 * Returns the missing grids of the most accurate operations for the area: those of the most accurate operation first,
 * then those for places that it does not cover. Downloads nothing.
 * @param within the area of the data in degrees; null if there are no data, and nothing is needed
 */
export async function findNeededGrids(
  from: Crs,
  to: Crs,
  within: Area | null,
  options: OperationOptions,
): Promise<PublishedGrid[]> {
  const found = new Map<string, PublishedGrid>();
  if (within === null) return [];
  for (;;) {
    const assumedGrids = new Set(found.keys());
    const better = await publishedOperations(from, to, { ...options, within, assumedGrids });
    const [best] = better
      .filter(({ missing }) => missing.every((grid) => coversPartOf(grid, within)))
      .sort((a, b) => a.accuracy - b.accuracy || totalGridBytes(a.missing) - totalGridBytes(b.missing));
    if (best === undefined) return [...found.values()];
    for (const grid of best.missing) found.set(grid.name, grid);
  }
}

/** Whether any published grid would make the reprojection more accurate somewhere. */
export const mayNeedGrids = async (from: Crs, to: Crs, options: OperationOptions): Promise<boolean> =>
  (await publishedOperations(from, to, options)).length > 0;

/** A more accurate operation whose missing grids are all published by PROJ. */
interface PublishedOperation {
  /** Metres. */
  readonly accuracy: number;
  readonly missing: readonly PublishedGrid[];
}

async function publishedOperations(from: Crs, to: Crs, options: OperationOptions): Promise<PublishedOperation[]> {
  const better = await betterOperations(from, to, options);
  return better.flatMap(({ accuracy, grids }) => {
    const missing = grids.flatMap(([first = ""]) => publishedGrid(first) ?? []);
    return missing.length === grids.length ? [{ accuracy, missing }] : [];
  });
}

const totalGridBytes = (grids: readonly PublishedGrid[]): number => grids.reduce((sum, { bytes }) => sum + bytes, 0);

async function betterOperations(from: Crs, to: Crs, options: OperationOptions): Promise<BetterOperations> {
  try {
    return (await findOperation(from, to, options)).better;
  } catch (error) {
    if (!(error instanceof GeoferryError) || error.code !== "crs-no-operation") throw error;
    const { better = [] } = error.details as { readonly better?: BetterOperations };
    return better;
  }
}

/** The extent in degrees with a margin for datum shifts; null if no feature has valid coordinates. */
export async function areaInDegrees(crs: Crs, extent: Extent | null): Promise<Area | null> {
  if (extent === null) return null;
  const box = await geographicBox(crs, extent);
  if (box === null) return null;
  const [west, south, east, north] = box;
  return [west - datumMarginDegrees, south - datumMarginDegrees, east + datumMarginDegrees, north + datumMarginDegrees];
}

/** Degrees: about two kilometres, more than any two datums differ. */
const datumMarginDegrees = 0.02;
