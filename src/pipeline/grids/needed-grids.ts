/** Which of the grids that PROJ publishes a reprojection would use, if they were on this machine. */
import { coversPartOf, type PublishedGrid, publishedGrid } from "../../crs/grids/index.js";
import { type Area, findOperation, geographicBox, type OperationOptions } from "../../crs/index.js";
import { GeoferryError } from "../../errors.js";
import type { Extent } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import type { OperationReport } from "../report.js";

type BetterOperations = OperationReport["better"];

/**
 * The grids that are missing for the most accurate operations where the data lie: the most accurate one first, then what
 * serves the places that it does not. Each is one that some position would be moved by; none is downloaded here.
 * @param within around the data in degrees; null where there are none, and nothing is needed
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

/** Whether any grid that PROJ publishes would make a reprojection more accurate anywhere. */
export const mayNeedGrids = async (from: Crs, to: Crs, options: OperationOptions): Promise<boolean> =>
  (await publishedOperations(from, to, options)).length > 0;

/** A better operation, all of whose missing grids PROJ publishes. */
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

/** Around the features in degrees, to within what datums differ by; null where none lies on the globe. */
export async function areaInDegrees(crs: Crs, extent: Extent | null): Promise<Area | null> {
  if (extent === null) return null;
  const box = await geographicBox(crs, extent);
  if (box === null) return null;
  const [west, south, east, north] = box;
  return [west - datumMarginDegrees, south - datumMarginDegrees, east + datumMarginDegrees, north + datumMarginDegrees];
}

/** Degrees: two kilometres, which no two datums differ by. */
const datumMarginDegrees = 0.02;
