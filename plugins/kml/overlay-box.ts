import type { Positions } from "./coordinates.js";

/** The sides of a LatLonBox in degrees; NaN for what is not said. */
export interface LatLonBox {
  north: number;
  south: number;
  east: number;
  west: number;
  /** Counter-clockwise, in degrees, about the centre (OGC 07-147r2, 11.3). */
  rotation: number;
}

/**
 * Adds the corners of the box, turned about its centre, as a closed ring from the north-west on.
 * @returns false where a side is not said
 */
export function addBox({ north, south, east, west, rotation }: LatLonBox, positions: Positions): boolean {
  const corners = [
    [west, north],
    [east, north],
    [east, south],
    [west, south],
    [west, north],
  ] as const;
  if (corners.some(([x, y]) => !Number.isFinite(x) || !Number.isFinite(y))) return false;
  const [centreX, centreY] = [(east + west) / 2, (north + south) / 2];
  const angle = (Number.isFinite(rotation) ? rotation : 0) * (Math.PI / 180);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (const [x, y] of corners) {
    const [dx, dy] = [x - centreX, y - centreY];
    if (angle === 0) positions.add(x, y, Number.NaN);
    else positions.add(centreX + dx * cos - dy * sin, centreY + dx * sin + dy * cos, Number.NaN);
  }
  return true;
}
