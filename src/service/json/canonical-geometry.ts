import { canonicalNumberEnd } from "./canonical-json.js";

/** Nesting of positions in `coordinates`, and minimum number of positions in the innermost array. */
interface CoordinateShape {
  readonly depth: number;
  readonly positions: number;
  readonly ring: boolean;
}
const coordinateShape = (depth: number, positions: number, ring = false): CoordinateShape => ({
  depth,
  positions,
  ring,
});

/** By the text before the coordinates. */
const geometryHeads: readonly (readonly [head: string, CoordinateShape])[] = (
  [
    ["Point", coordinateShape(0, 0)],
    ["LineString", coordinateShape(1, 2)],
    ["Polygon", coordinateShape(2, 4, true)],
    ["MultiPolygon", coordinateShape(3, 4, true)],
    ["MultiLineString", coordinateShape(2, 2)],
    ["MultiPoint", coordinateShape(1, 1)],
  ] as const
).map(([type, of]) => [`{"type":"${type}","coordinates":`, of]);

const [openBracket, closeBracket, comma, closeBrace] = [0x5b, 0x5d, 0x2c, 0x7d];
const [minus, point, zero] = [0x2d, 0x2e, 0x30];

/**
 * End of a geometry that is valid and in stored form: `type` and `coordinates`, plain numbers, positions within range,
 * closed rings (RFC 7946, 3.1). Returns -1 for all others, which `validateFeature` must check.
 */
export function canonicalGeometryEnd(text: string, at: number): number {
  if (text.startsWith("null", at)) return at + 4;
  for (const [head, of] of geometryHeads) {
    if (!text.startsWith(head, at)) continue;
    const end = coordinatesEnd(text, at + head.length, of.depth, of);
    return end >= 0 && text.charCodeAt(end) === closeBrace ? end + 1 : -1;
  }
  return -1;
}

function coordinatesEnd(text: string, at: number, depth: number, of: CoordinateShape): number {
  if (depth === 0) return positionEnd(text, at);
  if (text.charCodeAt(at) !== openBracket) return -1;
  let [count, last, i] = [0, at + 1, at + 1];
  for (; ; i++) {
    last = i;
    i = coordinatesEnd(text, i, depth - 1, of);
    if (i < 0) return -1;
    count++;
    const unit = text.charCodeAt(i);
    if (unit === closeBracket) break;
    if (unit !== comma) return -1;
  }
  if (depth > 1) return i + 1;
  if (count < of.positions) return -1;
  // In canonical form, equal numbers have equal texts.
  if (of.ring && !text.startsWith(`${text.slice(last, i)},`, at + 1)) return -1;
  return i + 1;
}

function positionEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== openBracket) return -1;
  const longitude = canonicalNumberEnd(text, at + 1);
  if (longitude < 0 || text.charCodeAt(longitude) !== comma) return -1;
  const latitude = canonicalNumberEnd(text, longitude + 1);
  if (latitude < 0) return -1;
  if (!isWithinDegrees(text, at + 1, longitude, 180) || !isWithinDegrees(text, longitude + 1, latitude, 90)) return -1;
  if (text.charCodeAt(latitude) === closeBracket) return latitude + 1;
  if (text.charCodeAt(latitude) !== comma) return -1;
  const height = canonicalNumberEnd(text, latitude + 1);
  return height >= 0 && text.charCodeAt(height) === closeBracket ? height + 1 : -1;
}

/** Compares the integer part first, since parsing a number takes longer. */
function isWithinDegrees(text: string, from: number, to: number, most: number): boolean {
  let whole = 0;
  for (let i = text.charCodeAt(from) === minus ? from + 1 : from; i < to; i++) {
    const unit = text.charCodeAt(i);
    if (unit === point) break;
    whole = 10 * whole + unit - zero;
  }
  return whole < most || Math.abs(Number(text.slice(from, to))) <= most;
}
