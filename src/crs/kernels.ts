import type { Ellipsoid } from "./definition.js";

/**
 * A map projection over interleaved positions `from`…`to`, in place: longitude and latitude in radians, counted from
 * the prime meridian of the system, to x and y in metres with the false origin, and back. A position that has no image
 * becomes NaN.
 */
export interface Kernel {
  forward(xy: Float64Array, from: number, to: number): void;
  inverse(xy: Float64Array, from: number, to: number): void;
}

const halfPi = Math.PI / 2;
const twoPi = 2 * Math.PI;

/** What rounding makes of ±π stays on its side of the antimeridian, as in PROJ: a ring must not jump across. */
const overshoot = 1e-12;

/** Into −π…π. */
export const wrap = (longitude: number): number =>
  Math.abs(longitude) <= Math.PI + overshoot
    ? longitude
    : longitude - twoPi * Math.floor((longitude + Math.PI) / twoPi);

export const outside = (xy: Float64Array, i: number): void => {
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
export function webMercator(a: number, lon0: number, x0: number, y0: number): Kernel {
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) < halfPi - 1e-10)) {
          outside(xy, i);
          continue;
        }
        xy[2 * i] = a * wrap(xy[2 * i]! - lon0) + x0;
        xy[2 * i + 1] = a * Math.asinh(Math.tan(lat)) + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        xy[2 * i] = wrap((xy[2 * i]! - x0) / a + lon0);
        xy[2 * i + 1] = Math.atan(Math.sinh((xy[2 * i + 1]! - y0) / a));
      }
    },
  };
}

/** tan φ from tan χ (conformal latitude), by Newton's method (Karney 2011, eq. 19–21). */
function tanLatitude(tau1: number, e: number): number {
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
export function mercator(ellipsoid: Ellipsoid, lon0: number, k: number, x0: number, y0: number): Kernel {
  const e = Math.sqrt(eccentricitySquared(ellipsoid));
  const radius = ellipsoid.a * k;
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) < halfPi - 1e-10)) {
          outside(xy, i);
          continue;
        }
        xy[2 * i] = radius * wrap(xy[2 * i]! - lon0) + x0;
        xy[2 * i + 1] = radius * isometric(Math.sin(lat), lat, e) + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        xy[2 * i] = wrap((xy[2 * i]! - x0) / radius + lon0);
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

export interface Conic {
  readonly lat0: number;
  readonly lon0: number;
  readonly lat1: number;
  readonly lat2: number;
  readonly k: number;
  readonly x0: number;
  readonly y0: number;
}

/** EPSG methods 9801, 9802, 1051: Lambert conic conformal (guidance note 7-2, 3.1.1). Angles in radians. */
export function lambertConic(ellipsoid: Ellipsoid, conic: Conic): Kernel | null {
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
          outside(xy, i);
          continue;
        }
        const theta = n * wrap(xy[2 * i]! - lon0);
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
          xy[2 * i] = wrap(lon0);
          xy[2 * i + 1] = sign * halfPi;
          continue;
        }
        const psi = -Math.log(rho / Math.abs(f)) / n;
        xy[2 * i] = wrap(Math.atan2(x, y) / n + lon0);
        xy[2 * i + 1] = Math.atan(tanLatitude(Math.sinh(psi), e));
      }
    },
  };
}

export interface Transverse {
  readonly lat0: number;
  readonly lon0: number;
  readonly k: number;
  readonly x0: number;
  readonly y0: number;
}

/**
 * EPSG method 9807, Transverse Mercator, by Krüger's series to the sixth order in n (Karney 2011, eq. 35 and 36; the
 * same map as PROJ's default): within 5 nm of the exact projection up to 3900 km from the central meridian.
 */
export function transverseMercator(ellipsoid: Ellipsoid, { lat0, lon0, k, x0, y0 }: Transverse): Kernel {
  const f = flattening(ellipsoid);
  const e = Math.sqrt(eccentricitySquared(ellipsoid));
  const n = f / (2 - f);
  const [alpha, beta] = kruegerSeries(n);
  const n2 = n * n;
  const radius = ((ellipsoid.a * k) / (1 + n)) * (1 + n2 / 4 + (n2 * n2) / 64 + (n2 * n2 * n2) / 256);
  const [a1, a2, a3, a4, a5, a6] = alpha;
  const [b1, b2, b3, b4, b5, b6] = beta;

  const origin = new Float64Array([lon0, lat0]);
  let north = 0;
  const kernel: Kernel = {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) <= halfPi + 1e-12)) {
          outside(xy, i);
          continue;
        }
        const lam = wrap(xy[2 * i]! - lon0);
        const sinLat = Math.sin(lat);
        const cosLat = Math.cos(lat);
        // tan of the conformal latitude; at the pole cosLat is 6e-17, which stays finite.
        const tau = sinLat / cosLat;
        const sigma = Math.sinh(e * Math.atanh(e * sinLat));
        const tau1 = tau * Math.sqrt(1 + sigma * sigma) - (sigma / cosLat) * (cosLat < 0 ? -1 : 1);
        const cosLam = Math.cos(lam);
        const xi = Math.atan2(tau1, cosLam);
        const eta = Math.asinh(Math.sin(lam) / Math.sqrt(tau1 * tau1 + cosLam * cosLam));
        // Beyond this the series diverges, a quarter of the globe away from the central meridian (as in PROJ).
        if (!(Math.abs(eta) <= 2.623395162778)) {
          outside(xy, i);
          continue;
        }
        // Clenshaw's sum of α_j sin(2jζ) for the complex ζ = ξ + iη.
        const s = Math.sin(2 * xi);
        const c = Math.cos(2 * xi);
        const sh = Math.sinh(2 * eta);
        const ch = Math.sqrt(1 + sh * sh);
        const re = 2 * c * ch;
        const im = -2 * s * sh;
        let r2 = a6;
        let i2 = 0;
        let r1 = re * r2 + a5;
        let i1 = im * r2;
        let r0 = re * r1 - im * i1 - r2 + a4;
        let i0 = im * r1 + re * i1 - i2;
        r2 = re * r0 - im * i0 - r1 + a3;
        i2 = im * r0 + re * i0 - i1;
        r1 = re * r2 - im * i2 - r0 + a2;
        i1 = im * r2 + re * i2 - i0;
        r0 = re * r1 - im * i1 - r2 + a1;
        i0 = im * r1 + re * i1 - i2;
        const sr = s * ch;
        const si = c * sh;
        xy[2 * i] = radius * (eta + sr * i0 + si * r0) + x0;
        xy[2 * i + 1] = radius * (xi + sr * r0 - si * i0) - north + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const eta = (xy[2 * i]! - x0) / radius;
        const xi = (xy[2 * i + 1]! - y0 + north) / radius;
        if (!(Math.abs(eta) <= 2.623395162778) || !Number.isFinite(xi)) {
          outside(xy, i);
          continue;
        }
        const s = Math.sin(2 * xi);
        const c = Math.cos(2 * xi);
        const sh = Math.sinh(2 * eta);
        const ch = Math.sqrt(1 + sh * sh);
        const re = 2 * c * ch;
        const im = -2 * s * sh;
        let r2 = b6;
        let i2 = 0;
        let r1 = re * r2 + b5;
        let i1 = im * r2;
        let r0 = re * r1 - im * i1 - r2 + b4;
        let i0 = im * r1 + re * i1 - i2;
        r2 = re * r0 - im * i0 - r1 + b3;
        i2 = im * r0 + re * i0 - i1;
        r1 = re * r2 - im * i2 - r0 + b2;
        i1 = im * r2 + re * i2 - i0;
        r0 = re * r1 - im * i1 - r2 + b1;
        i0 = im * r1 + re * i1 - i2;
        const sr = s * ch;
        const si = c * sh;
        const xi1 = xi - (sr * r0 - si * i0);
        const eta1 = eta - (sr * i0 + si * r0);
        const sinhEta = Math.sinh(eta1);
        const cosXi = Math.cos(xi1);
        const tau1 = Math.sin(xi1) / Math.sqrt(sinhEta * sinhEta + cosXi * cosXi);
        xy[2 * i] = wrap(Math.atan2(sinhEta, cosXi) + lon0);
        xy[2 * i + 1] = Math.atan(tanLatitude(tau1, e));
      }
    },
  };
  if (lat0 !== 0) {
    kernel.forward(origin, 0, 1);
    north = origin[1]! - y0;
  }
  return kernel;
}

type Six = readonly [number, number, number, number, number, number];

/** Coefficients of Krüger's series in the third flattening n (Karney 2011, eq. 35 and 36). */
function kruegerSeries(n: number): readonly [forward: Six, inverse: Six] {
  const n2 = n * n;
  const n3 = n2 * n;
  const n4 = n3 * n;
  const n5 = n4 * n;
  const n6 = n5 * n;
  return [
    [
      n / 2 - (2 / 3) * n2 + (5 / 16) * n3 + (41 / 180) * n4 - (127 / 288) * n5 + (7891 / 37800) * n6,
      (13 / 48) * n2 - (3 / 5) * n3 + (557 / 1440) * n4 + (281 / 630) * n5 - (1983433 / 1935360) * n6,
      (61 / 240) * n3 - (103 / 140) * n4 + (15061 / 26880) * n5 + (167603 / 181440) * n6,
      (49561 / 161280) * n4 - (179 / 168) * n5 + (6601661 / 7257600) * n6,
      (34729 / 80640) * n5 - (3418889 / 1995840) * n6,
      (212378941 / 319334400) * n6,
    ],
    [
      n / 2 - (2 / 3) * n2 + (37 / 96) * n3 - (1 / 360) * n4 - (81 / 512) * n5 + (96199 / 604800) * n6,
      (1 / 48) * n2 + (1 / 15) * n3 - (437 / 1440) * n4 + (46 / 105) * n5 - (1118711 / 3870720) * n6,
      (17 / 480) * n3 - (37 / 840) * n4 - (209 / 4480) * n5 + (5569 / 90720) * n6,
      (4397 / 161280) * n4 - (11 / 504) * n5 - (830251 / 7257600) * n6,
      (4583 / 161280) * n5 - (108847 / 3991680) * n6,
      (20648693 / 638668800) * n6,
    ],
  ];
}
