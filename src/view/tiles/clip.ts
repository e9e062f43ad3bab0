/** Clips rings and lines to the square of a tile and its margin. */

/** Interleaved positions in units of the tile. */
export type Positions = number[];

/** Clips a ring to the square [min, max]² (Sutherland and Hodgman 1974). Empty if nothing is left. */
export function clipRing(ring: Positions, min: number, max: number): Positions {
  let clipped = ring;
  for (const axis of [0, 1] as const) {
    clipped = clipHalf(clipped, axis, (value) => value >= min, min);
    clipped = clipHalf(clipped, axis, (value) => value <= max, max);
  }
  return clipped;
}

function clipHalf(ring: Positions, axis: 0 | 1, isInside: (value: number) => boolean, edge: number): Positions {
  const found: Positions = [];
  const other = axis === 0 ? 1 : 0;
  const count = ring.length;
  for (let at = 0; at < count; at += 2) {
    const before = (at + count - 2) % count;
    const [a, b] = [ring[before + axis]!, ring[at + axis]!];
    if (isInside(a) !== isInside(b)) {
      const share = (edge - a) / (b - a);
      const crossing = ring[before + other]! + share * (ring[at + other]! - ring[before + other]!);
      if (axis === 0) found.push(edge, crossing);
      else found.push(crossing, edge);
    }
    if (isInside(b)) found.push(ring[at]!, ring[at + 1]!);
  }
  return found;
}

/** The parts of a line within the square [min, max]² (Liang and Barsky 1984). */
export function clipLine(line: Positions, min: number, max: number): Positions[] {
  const parts: Positions[] = [];
  let part: Positions = [];
  const end = () => {
    if (part.length > 2) parts.push(part);
    part = [];
  };
  for (let at = 2; at < line.length; at += 2) {
    const [x, y] = [line[at - 2]!, line[at - 1]!];
    const [dx, dy] = [line[at]! - x, line[at + 1]! - y];
    const range = clipSegment(x, y, dx, dy, min, max);
    if (range === null) {
      end();
      continue;
    }
    const [from, to] = range;
    if (from > 0) end();
    if (part.length === 0) part.push(x + from * dx, y + from * dy);
    part.push(x + to * dx, y + to * dy);
    if (to < 1) end();
  }
  end();
  return parts;
}

/** Shares of a segment at which it enters and leaves the square; null if it is outside. */
function clipSegment(
  x: number,
  y: number,
  dx: number,
  dy: number,
  min: number,
  max: number,
): readonly [from: number, to: number] | null {
  let [from, to] = [0, 1];
  for (const [delta, distance] of [
    [-dx, x - min],
    [dx, max - x],
    [-dy, y - min],
    [dy, max - y],
  ] as const) {
    if (delta === 0) {
      if (distance < 0) return null;
      continue;
    }
    const share = distance / delta;
    if (delta < 0) from = Math.max(from, share);
    else to = Math.min(to, share);
    if (from > to) return null;
  }
  return [from, to];
}
