/** Geometries as text, for the panel of a feature. */
import { forEachPosition } from "../model/for-each-position.js";
import type { Geometry } from "../model/geometry.js";
import { toWkt } from "../model/wkt.js";

/** Characters of a text. */
const maxCharacters = 4000;

/** Characters of a position at least. */
const minPositionCharacters = 4;

/**
 * Well-known text, to 0.0000001 degrees; null if it is long, or there is no geometry.
 * @param geometry is rounded
 */
export function geometryText(geometry: Geometry | null): string | null {
  if (geometry === null) return null;
  let positions = 0;
  forEachPosition(geometry, (position) => {
    positions++;
    for (let k = 0; k < position.length; k++) position[k] = Number(position[k]!.toFixed(7));
  });
  if (positions * minPositionCharacters > maxCharacters) return null;
  const text = toWkt(geometry);
  return text.length > maxCharacters ? null : text;
}
