import type { ProjectionKernel } from "./kernels.js";
import { halfPi, setNaN, wrapRadians } from "./kernels.js";

/**
 * A projection of one position, in units of the semi-major axis: the longitude from the central meridian and the
 * latitude, in radians, to x and y without the false origin, and back. `out` takes both; NaN if there is no image.
 */
export interface Mapping {
  forward(longitude: number, latitude: number, out: Float64Array): void;
  inverse(x: number, y: number, out: Float64Array): void;
}

/** The central meridian in radians, and the false origin in metres. */
export interface MapFrame {
  readonly lon0: number;
  readonly x0: number;
  readonly y0: number;
}

/** Tolerance in radians for positions that rounding moved beyond a pole or the antimeridian. */
const roundingTolerance = 1e-9;

/** Applies a mapping to many positions; positions beyond the antimeridian become NaN. */
export function kernelFromMapping(a: number, { lon0, x0, y0 }: MapFrame, mapping: Mapping): ProjectionKernel {
  const out = new Float64Array(2);
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const latitude = xy[2 * i + 1]!;
        if (!(Math.abs(latitude) <= halfPi + roundingTolerance)) {
          setNaN(xy, i);
          continue;
        }
        mapping.forward(wrapRadians(xy[2 * i]! - lon0), Math.max(-halfPi, Math.min(halfPi, latitude)), out);
        xy[2 * i] = a * out[0]! + x0;
        xy[2 * i + 1] = a * out[1]! + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        mapping.inverse((xy[2 * i]! - x0) / a, (xy[2 * i + 1]! - y0) / a, out);
        if (!(Math.abs(out[0]!) <= Math.PI + roundingTolerance && Math.abs(out[1]!) <= halfPi + roundingTolerance)) {
          setNaN(xy, i);
          continue;
        }
        xy[2 * i] = wrapRadians(Math.max(-Math.PI, Math.min(Math.PI, out[0]!)) + lon0);
        xy[2 * i + 1] = Math.max(-halfPi, Math.min(halfPi, out[1]!));
      }
    },
  };
}

export const setNoImage = (out: Float64Array): void => {
  out[0] = Number.NaN;
  out[1] = Number.NaN;
};

/** Arc sine that clamps values slightly beyond ±1. */
export const clampedAsin = (value: number): number =>
  Math.abs(value) <= 1
    ? Math.asin(value)
    : Math.abs(value) <= 1 + roundingTolerance
      ? Math.sign(value) * halfPi
      : Number.NaN;

/**
 * Finds the root of an increasing function by Newton's method; `slope` is its derivative. NaN if it does not converge.
 */
export function findRoot(start: number, rest: (at: number) => number, slope: (at: number) => number): number {
  let at = start;
  for (let step = 0; step < 50; step++) {
    const change = rest(at) / slope(at);
    at -= change;
    if (Math.abs(change) <= 1e-14 * Math.max(1, Math.abs(at))) return at;
    if (!Number.isFinite(at)) return Number.NaN;
  }
  return Math.abs(rest(at)) < 1e-12 ? at : Number.NaN;
}

/**
 * Solves a forward projection for the position, by Newton's method with differences for derivatives, from the start
 * that `out` holds: for maps whose inverse has no closed form.
 */
export function createSolver(forward: Mapping["forward"]): (x: number, y: number, out: Float64Array) => void {
  const here = new Float64Array(2);
  const east = new Float64Array(2);
  const north = new Float64Array(2);
  const step = 1e-7;
  return (x, y, out) => {
    let longitude = out[0]!;
    let latitude = out[1]!;
    for (let round = 0; round < 40; round++) {
      forward(longitude, latitude, here);
      const dx = x - here[0]!;
      const dy = y - here[1]!;
      // Differences towards the center, so that none leaves the map.
      const h = longitude > 0 ? -step : step;
      const k = latitude > 0 ? -step : step;
      forward(longitude + h, latitude, east);
      forward(longitude, latitude + k, north);
      const xl = (east[0]! - here[0]!) / h;
      const yl = (east[1]! - here[1]!) / h;
      const xp = (north[0]! - here[0]!) / k;
      const yp = (north[1]! - here[1]!) / k;
      const determinant = xl * yp - xp * yl;
      const moveEast = (dx * yp - dy * xp) / determinant;
      const moveNorth = (dy * xl - dx * yl) / determinant;
      if (!Number.isFinite(moveEast + moveNorth)) break;
      longitude = Math.max(-Math.PI, Math.min(Math.PI, longitude + moveEast));
      latitude = Math.max(-halfPi, Math.min(halfPi, latitude + moveNorth));
      if (Math.abs(moveEast) + Math.abs(moveNorth) < 1e-13) break;
    }
    forward(longitude, latitude, here);
    if (!(Math.hypot(x - here[0]!, y - here[1]!) < 1e-11)) return setNoImage(out);
    out[0] = longitude;
    out[1] = latitude;
  };
}
