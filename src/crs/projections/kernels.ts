import type { Ellipsoid } from "../definitions/definition.js";

/**
 * A map projection over interleaved positions `from`…`to`, in place: longitude and latitude in radians, counted from
 * the prime meridian of the system, to x and y in metres with the false origin, and back. A position that has no image
 * becomes NaN.
 */
export interface ProjectionKernel {
  forward(xy: Float64Array, from: number, to: number): void;
  inverse(xy: Float64Array, from: number, to: number): void;
}

export const halfPi = Math.PI / 2;
const twoPi = 2 * Math.PI;

/** Rounded values of ±π stay on their side of the antimeridian, as in PROJ, so that rings do not jump across. */
const antimeridianTolerance = 1e-12;

/** Into −π…π. */
export const wrapRadians = (longitude: number): number =>
  Math.abs(longitude) <= Math.PI + antimeridianTolerance
    ? longitude
    : longitude - twoPi * Math.floor((longitude + Math.PI) / twoPi);

export const setNaN = (xy: Float64Array, i: number): void => {
  xy[2 * i] = Number.NaN;
  xy[2 * i + 1] = Number.NaN;
};

export const flattening = (ellipsoid: Ellipsoid) =>
  ellipsoid.inverseFlattening === 0 ? 0 : 1 / ellipsoid.inverseFlattening;
export const eccentricitySquared = (ellipsoid: Ellipsoid): number => {
  const f = flattening(ellipsoid);
  return f * (2 - f);
};

/** EPSG method 1024: spherical formulas on the coordinates of the ellipsoid (guidance note 7-2, 3.2.1.2). */
export function webMercator(a: number, lon0: number, x0: number, y0: number): ProjectionKernel {
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) < halfPi - 1e-10)) {
          setNaN(xy, i);
          continue;
        }
        xy[2 * i] = a * wrapRadians(xy[2 * i]! - lon0) + x0;
        xy[2 * i + 1] = a * Math.asinh(Math.tan(lat)) + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        xy[2 * i] = wrapRadians((xy[2 * i]! - x0) / a + lon0);
        xy[2 * i + 1] = Math.atan(Math.sinh((xy[2 * i + 1]! - y0) / a));
      }
    },
  };
}

/** tan φ from tan χ (conformal latitude), by Newton's method (Karney 2011, eq. 19–21). */
export function tanLatitude(tau1: number, e: number): number {
  const e2m = 1 - e * e;
  let tau = tau1 / e2m;
  const limit = 1e-14 * Math.max(1, Math.abs(tau1));
  for (let step = 0; step < 6; step++) {
    const root = Math.sqrt(1 + tau * tau);
    const sigma = Math.sinh(e * Math.atanh((e * tau) / root));
    const tau2 = Math.sqrt(1 + sigma * sigma) * tau - sigma * root;
    const change = ((tau1 - tau2) / Math.sqrt(1 + tau2 * tau2)) * ((1 + e2m * tau * tau) / (e2m * root));
    tau += change;
    if (Math.abs(change) < limit) break;
  }
  return tau;
}

/** Isometric latitude of the ellipsoid. */
const isometric = (sinLat: number, lat: number, e: number): number =>
  Math.asinh(Math.tan(lat)) - e * Math.atanh(e * sinLat);

/** EPSG methods 9804 and 9805: Mercator with the scale `k` on the equator (guidance note 7-2, 3.2.1). */
export function mercator(ellipsoid: Ellipsoid, lon0: number, k: number, x0: number, y0: number): ProjectionKernel {
  const e = Math.sqrt(eccentricitySquared(ellipsoid));
  const radius = ellipsoid.a * k;
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) < halfPi - 1e-10)) {
          setNaN(xy, i);
          continue;
        }
        xy[2 * i] = radius * wrapRadians(xy[2 * i]! - lon0) + x0;
        xy[2 * i + 1] = radius * isometric(Math.sin(lat), lat, e) + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        xy[2 * i] = wrapRadians((xy[2 * i]! - x0) / radius + lon0);
        xy[2 * i + 1] = Math.atan(tanLatitude(Math.sinh((xy[2 * i + 1]! - y0) / radius), e));
      }
    },
  };
}

/** The scale on the equator of a Mercator that is true at `lat1` (radians). */
export function mercatorScale(ellipsoid: Ellipsoid, lat1: number): number {
  const sin = Math.sin(lat1);
  return Math.cos(lat1) / Math.sqrt(1 - eccentricitySquared(ellipsoid) * sin * sin);
}

export interface ConicParameters {
  readonly lat0: number;
  readonly lon0: number;
  readonly lat1: number;
  readonly lat2: number;
  readonly k: number;
  readonly x0: number;
  readonly y0: number;
}

/** EPSG methods 9801, 9802, 1051: Lambert conic conformal (guidance note 7-2, 3.1.1). Angles in radians. */
export function lambertConic(ellipsoid: Ellipsoid, conic: ConicParameters): ProjectionKernel | null {
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const { lat0, lat1, lat2, lon0, x0, y0 } = conic;
  if (Math.abs(lat1 + lat2) < 1e-10 || Math.abs(lat1) >= halfPi || Math.abs(lat2) >= halfPi) return null;
  const m = (lat: number) => Math.cos(lat) / Math.sqrt(1 - e2 * Math.sin(lat) ** 2);
  const t = (lat: number) => Math.exp(-isometric(Math.sin(lat), lat, e));
  const n = Math.abs(lat1 - lat2) < 1e-10 ? Math.sin(lat1) : Math.log(m(lat1) / m(lat2)) / Math.log(t(lat1) / t(lat2));
  const f = (m(lat1) / (n * t(lat1) ** n)) * ellipsoid.a * conic.k;
  const rho0 = Math.abs(Math.abs(lat0) - halfPi) < 1e-10 ? 0 : f * t(lat0) ** n;
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        let rho = 0;
        if (Math.abs(lat) < halfPi - 1e-10) rho = f * Math.exp(-n * isometric(Math.sin(lat), lat, e));
        else if (!(Math.abs(lat) <= halfPi + 1e-10) || lat * n <= 0) {
          setNaN(xy, i);
          continue;
        }
        const theta = n * wrapRadians(xy[2 * i]! - lon0);
        xy[2 * i] = rho * Math.sin(theta) + x0;
        xy[2 * i + 1] = rho0 - rho * Math.cos(theta) + y0;
      }
    },
    inverse(xy, from, to) {
      const sign = n < 0 ? -1 : 1;
      for (let i = from; i < to; i++) {
        const x = sign * (xy[2 * i]! - x0);
        const y = sign * (rho0 - (xy[2 * i + 1]! - y0));
        const rho = Math.sqrt(x * x + y * y);
        if (rho === 0) {
          xy[2 * i] = wrapRadians(lon0);
          xy[2 * i + 1] = sign * halfPi;
          continue;
        }
        const psi = -Math.log(rho / Math.abs(f)) / n;
        xy[2 * i] = wrapRadians(Math.atan2(x, y) / n + lon0);
        xy[2 * i + 1] = Math.atan(tanLatitude(Math.sinh(psi), e));
      }
    },
  };
}
