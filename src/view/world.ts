/**
 * The plane of the map: Web Mercator (EPSG:3857, OGC 17-083r4 annex D) as whole numbers. The world is a square of 2^30
 * units with its origin in the north-west; a unit is 3.7 cm at the equator.
 */
export const worldBits = 30;
export const worldSize = 2 ** worldBits;

/** Side of a tile in CSS pixels at its own zoom. */
export const tilePixels = 512;

/** The greatest zoom; a pixel is 7.5 cm at the equator. */
export const maxZoom = 20;

/** Latitudes of the upper and lower edge of the square, in degrees. */
export const maxLatitude = (Math.atan(Math.sinh(Math.PI)) * 180) / Math.PI;

/** Level of features that are a dot at every zoom. */
export const dotLevel = 31;

/** Level of features without a geometry. */
export const noLevel = 255;

const degrees = Math.PI / 180;

/** Not limited: longitudes beyond 180 degrees lie beyond the square. */
export const toWorldX = (longitude: number): number => Math.round((longitude / 360 + 0.5) * worldSize);

/** Latitudes beyond the square lie on its edge. */
export function toWorldY(latitude: number): number {
  const limited = Math.max(-maxLatitude, Math.min(maxLatitude, latitude));
  const y = 0.5 - Math.asinh(Math.tan(limited * degrees)) / (2 * Math.PI);
  return Math.max(0, Math.min(worldSize - 1, Math.round(y * worldSize)));
}

export const toLongitude = (x: number): number => (x / worldSize - 0.5) * 360;

export const toLatitude = (y: number): number => Math.atan(Math.sinh((0.5 - y / worldSize) * 2 * Math.PI)) / degrees;

/** Units of a pixel at a zoom. */
export const unitsPerPixel = (zoom: number): number => worldSize / tilePixels / 2 ** zoom;

/** The x of the same place in the square. */
export const wrapX = (x: number): number => ((x % worldSize) + worldSize) % worldSize;

/** Pixels that a feature must cover to be drawn with its shape, not as a dot. */
const minShapePixels = 2;

/**
 * The least zoom at which a feature is drawn with its shape.
 * @param size the longer side of its box, in units
 */
export function levelOf(size: number): number {
  if (size <= 0) return dotLevel;
  return Math.max(0, Math.min(dotLevel - 1, Math.ceil(Math.log2((minShapePixels * worldSize) / tilePixels / size))));
}

/** The greatest size of features of a level, in units; those of level 0 can span the world twice. */
export const maxSizeOf = (level: number): number =>
  level === 0 ? 2 * worldSize : level === dotLevel ? 0 : 2 * minShapePixels * unitsPerPixel(level);
