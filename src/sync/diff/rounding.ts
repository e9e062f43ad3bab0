/**
 * Services that keep fewer decimals than were sent. Where a map shows n decimals and most features of the source become
 * those of the map when they are rounded to n, that is what happened, and not that somebody moved them.
 */
import type { Geometry, Position } from "../../model/geometry.js";
import { defaultRounding, type Rounding } from "../../remote/snapshot/canonical-feature.js";

/** A service that keeps fewer (11 m) would spoil maps of houses; a map that shows fewer was made of round numbers. */
export const minDecimals = 4;

/** What is sent and compared: as many decimals as were asked for. */
export const roundingForPrecision = (precision: number): Rounding => ({ ...defaultRounding, degrees: precision });

/** Decimals that a service may have rounded to, as far as the map shows; null where it shows all that were asked for. */
export const detectRounding = (decimals: number, precision: number): number | null =>
  decimals >= minDecimals && decimals < precision ? decimals : null;

type NestedPositions = Position | readonly NestedPositions[];

const isPosition = (nested: NestedPositions): nested is Position =>
  nested.length === 0 || typeof nested[0] === "number";

/** Whether `exact`, rounded to so many decimals of a degree by any rule for halves, gives `rounded`. */
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
