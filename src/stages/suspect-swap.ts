import { type Extent, isExtentWithin } from "../model/geometry.js";

/** The extent of a data set with coordinates declared as longitude, latitude in degrees. */
export interface CoordinateCoverage {
  readonly extent: Extent | null;
}

export interface SwapHints {
  /** Where the stated CRS is used, in longitude and latitude; west beyond east where it spans the antimeridian. */
  readonly areaOfUse?: Extent | null;
  /** The extent of the existing data in the target. */
  readonly existingExtent?: Extent | null;
}

/** A box as one or, across the antimeridian, two that do not wrap. */
function splitAtAntimeridian([west, south, east, north]: Extent): Extent[] {
  if (west <= east) return [[west, south, east, north]];
  return [
    [west, south, 180, north],
    [-180, south, east, north],
  ];
}

/** Whether two boxes that do not cross the antimeridian intersect. */
export const extentsOverlap = (a: Extent, b: Extent): boolean =>
  a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];

/** A latitude this little beyond a pole was rounded or computed; it is not a longitude. */
export const poleOvershootDegrees = 0.01;

const wgs84Extent: Extent = [-180, -90, 180, 90];

/**
 * Whether latitude seems to come before longitude in a data set.
 * - `sure`: some latitudes are beyond ±90°, and exchanging x and y puts every position in range;
 * - `suspected`: only the exchanged extent lies in the area of use of its CRS, or overlaps the existing data.
 */
export function suspectSwap({ extent }: CoordinateCoverage, hints: SwapHints = {}): "sure" | "suspected" | null {
  if (!extent) return null;
  const exchanged: Extent = [extent[1], extent[0], extent[3], extent[2]];
  if (!isExtentWithin(exchanged, wgs84Extent)) return null;
  const limit = 90 + poleOvershootDegrees;
  if (extent[1] < -limit || extent[3] > limit) return "sure";
  const { areaOfUse, existingExtent } = hints;
  if (areaOfUse) {
    const used = splitAtAntimeridian(areaOfUse);
    if (used.some((box) => isExtentWithin(exchanged, box)) && !used.some((box) => isExtentWithin(extent, box)))
      return "suspected";
  }
  if (existingExtent) {
    const boxes = splitAtAntimeridian(existingExtent);
    if (boxes.some((box) => extentsOverlap(exchanged, box)) && !boxes.some((box) => extentsOverlap(extent, box)))
      return "suspected";
  }
  return null;
}
