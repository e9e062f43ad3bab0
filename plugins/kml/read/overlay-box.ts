/** The sides of a LatLonBox in degrees; NaN for what is not said. */
export interface LatLonBox {
  north: number;
  south: number;
  east: number;
  west: number;
  /** Counter-clockwise, in degrees, about the centre (OGC 07-147r2, 11.3). */
  rotation: number;
}

type Position = readonly [longitude: number, latitude: number];

/**
 * The box, turned about its centre, as a closed ring from the north-west on; as one for each side of the antimeridian
 * where it lies on both (RFC 7946, 3.1.9), as when its west is beyond its east. Null where a side is not said.
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

/** The part of an open convex ring where `side · x` is at most `side · limit` (Sutherland and Hodgman 1974). */
function clip(ring: readonly Position[], limit: number, side: 1 | -1): Position[] {
  const within = ([x]: Position) => side * x <= side * limit;
  // A side that lies on the limit belongs to one part only: the other would have no area.
  if (ring.every(([x]) => side * x >= side * limit)) return [];
  return ring.flatMap((position, i): Position[] => {
    const next = ring[(i + 1) % ring.length]!;
    const kept = within(position) ? [position] : [];
    if (within(position) === within(next) || position[0] === limit || next[0] === limit) return kept;
    const share = (limit - position[0]) / (next[0] - position[0]);
    return [...kept, [limit, position[1] + share * (next[1] - position[1])]];
  });
}
