/** The sides of a LatLonBox in degrees; NaN for a missing one. */
export interface LatLonBox {
  north: number;
  south: number;
  east: number;
  west: number;
  /** Counter-clockwise, in degrees, about the center (OGC 07-147r2, 11.3). */
  rotation: number;
}

type Position = readonly [longitude: number, latitude: number];

/**
 * Returns the box, rotated about its center, as a closed ring that begins in the north-west. A box on both sides of the
 * antimeridian, for example with a west greater than its east, becomes a ring for each side (RFC 7946, 3.1.9). Null where a
 * side is missing.
 */
export function boxRings({ north, south, east, west, rotation }: LatLonBox): Position[][] | null {
  if (![north, south, east, west].every(Number.isFinite)) return null;
  const farEast = west > east ? east + 360 : east;
  const corners: Position[] = [
    [west, north],
    [farEast, north],
    [farEast, south],
    [west, south],
  ];
  const turned = rotate(corners, (west + farEast) / 2, (north + south) / 2, rotation);
  const rings = [-360, 0, 360].map((shift) => {
    const moved = turned.map(([x, y]): Position => [x + shift, y]);
    return clip(clip(moved, 180, 1), -180, -1);
  });
  return rings.filter((ring) => ring.length > 2).map((ring) => [...ring, ring[0]!]);
}

function rotate(corners: Position[], centreX: number, centreY: number, rotation: number): Position[] {
  const angle = (Number.isFinite(rotation) ? rotation : 0) * (Math.PI / 180);
  if (angle === 0) return corners;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return corners.map(([x, y]) => {
    const [dx, dy] = [x - centreX, y - centreY];
    return [centreX + dx * cos - dy * sin, centreY + dx * sin + dy * cos];
  });
}

/** Clips an open convex ring to where `side · x` is at most `side · limit` (Sutherland and Hodgman 1974). */
function clip(ring: readonly Position[], limit: number, side: 1 | -1): Position[] {
  const within = ([x]: Position) => side * x <= side * limit;
  // A side on the limit belongs to one part only, because the other would have no area.
  if (ring.every(([x]) => side * x >= side * limit)) return [];
  return ring.flatMap((position, i): Position[] => {
    const next = ring[(i + 1) % ring.length]!;
    const kept = within(position) ? [position] : [];
    if (within(position) === within(next) || position[0] === limit || next[0] === limit) return kept;
    const share = (limit - position[0]) / (next[0] - position[0]);
    return [...kept, [limit, position[1] + share * (next[1] - position[1])]];
  });
}
