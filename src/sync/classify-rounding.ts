/**
 * Services that keep fewer decimals than were sent. Where a map shows n decimals and most features of the source become
 * those of the map when they are rounded to n, that is what happened, and not that somebody moved them.
 */

import type { Geometry, Position } from "../model/geometry.js";
import { type Rounding, usualRounding } from "../remote/canonical.js";

/** A service that keeps fewer (11 m) would spoil maps of houses; a map that shows fewer was made of round numbers. */
export const leastDecimals = 4;

/** What is sent and compared: as many decimals as were asked for. */
export const roundingOf = (precision: number): Rounding => ({ ...usualRounding, degrees: precision });

/** Decimals that a service may have rounded to, as far as the map shows; null where it shows all that were asked for. */
export const shownRounding = (decimals: number, precision: number): number | null =>
  decimals >= leastDecimals && decimals < precision ? decimals : null;

type Nested = Position | readonly Nested[];

const isPosition = (nested: Nested): nested is Position => nested.length === 0 || typeof nested[0] === "number";

/** Whether `exact`, rounded to so many decimals of a degree by any rule for halves, gives `rounded`. */
export function becomesByRounding(exact: Geometry | null, rounded: Geometry | null, decimals: number): boolean {
  if (exact === null || rounded === null) return exact === rounded;
  if (exact.type !== rounded.type) return false;
  if (exact.type === "GeometryCollection" || rounded.type === "GeometryCollection") {
    const [from, to] = [exact, rounded].map((one) => (one.type === "GeometryCollection" ? one.geometries : []));
    return from!.length === to!.length && from!.every((part, i) => becomesByRounding(part, to![i]!, decimals));
  }
  return isClose(exact.coordinates, rounded.coordinates, 0.5 * 10 ** -decimals + 1e-12);
}

function isClose(exact: Nested, rounded: Nested, tolerance: number): boolean {
  if (exact.length !== rounded.length || isPosition(exact) !== isPosition(rounded)) return false;
  if (!isPosition(exact) || !isPosition(rounded))
    return exact.every((part, i) => isClose(part as Nested, rounded[i] as Nested, tolerance));
  const metres = 0.5 * 10 ** -usualRounding.metres;
  return exact.every((value, i) => Math.abs(value - rounded[i]!) <= (i < 2 ? tolerance : metres));
}
