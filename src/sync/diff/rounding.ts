/**
 * Detects services that keep fewer decimals than were sent: if a map shows n decimals, and most source features equal
 * those of the map when rounded to n, the service rounds and the features did not move.
 */

import { defaultRounding, type Rounding } from "../../canonical/canonical-feature.js";
import type { Geometry, Position } from "../../model/geometry.js";

/**
 * With fewer decimals (11 m), a service would distort maps of houses; a map that shows fewer probably contains round
 * numbers.
 */
export const minDecimals = 4;

/** The rounding of sent and compared coordinates at a precision. */
export const roundingForPrecision = (precision: number): Rounding => ({ ...defaultRounding, degrees: precision });

/** Decimals to which the service may have rounded, judging by the map; null if the map shows the full precision. */
export const detectRounding = (decimals: number, precision: number): number | null =>
  decimals >= minDecimals && decimals < precision ? decimals : null;

/** Decimals, fewer than are taken for rounding, after which both are equal; null if they differ in more. */
export function findFewDecimals(exact: Geometry | null, rounded: Geometry | null): number | null {
  for (let decimals = minDecimals - 1; decimals >= 0; decimals--)
    if (equalsAfterRounding(exact, rounded, decimals)) return decimals;
  return null;
}

type NestedPositions = Position | readonly NestedPositions[];

const isPosition = (nested: NestedPositions): nested is Position =>
  nested.length === 0 || typeof nested[0] === "number";

/** Whether rounding `exact` to `decimals` of a degree, with any tie-breaking rule, gives `rounded`. */
export function equalsAfterRounding(exact: Geometry | null, rounded: Geometry | null, decimals: number): boolean {
  if (exact === null || rounded === null) return exact === rounded;
  if (exact.type !== rounded.type) return false;
  if (exact.type === "GeometryCollection" || rounded.type === "GeometryCollection") {
    const [from, to] = [exact, rounded].map((one) => (one.type === "GeometryCollection" ? one.geometries : []));
    return from!.length === to!.length && from!.every((part, i) => equalsAfterRounding(part, to![i]!, decimals));
  }
  return areClose(exact.coordinates, rounded.coordinates, 0.5 * 10 ** -decimals + 1e-12);
}

function areClose(exact: NestedPositions, rounded: NestedPositions, tolerance: number): boolean {
  if (exact.length !== rounded.length || isPosition(exact) !== isPosition(rounded)) return false;
  if (!isPosition(exact) || !isPosition(rounded))
    return exact.every((part, i) => areClose(part as NestedPositions, rounded[i] as NestedPositions, tolerance));
  const metres = 0.5 * 10 ** -defaultRounding.metres;
  return exact.every((value, i) => Math.abs(value - rounded[i]!) <= (i < 2 ? tolerance : metres));
}
