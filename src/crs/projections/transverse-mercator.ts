import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, flattening, halfPi, type ProjectionKernel, setNaN, wrapRadians } from "./kernels.js";
import { inverseConformalLatitude } from "./latitudes.js";

export interface TransverseMercatorParameters {
  readonly lat0: number;
  readonly lon0: number;
  readonly k: number;
  readonly x0: number;
  readonly y0: number;
}

/** Beyond this η the series diverges, a quarter of the globe away from the central meridian (as in PROJ). */
const maxEta = 2.623395162778;

/**
 * EPSG method 9807, Transverse Mercator, by Krüger's series to the sixth order in n (Karney 2011, eq. 35 and 36; the
 * same map as PROJ's default): within 5 nm of the exact projection up to 3900 km from the central meridian.
 */
export function transverseMercator(
  ellipsoid: Ellipsoid,
  { lat0, lon0, k, x0, y0 }: TransverseMercatorParameters,
): ProjectionKernel {
  const f = flattening(ellipsoid);
  const e = Math.sqrt(eccentricitySquared(ellipsoid));
  const n = f / (2 - f);
  const [alpha, beta] = kruegerSeries(n);
  const n2 = n * n;
  const radius = ((ellipsoid.a * k) / (1 + n)) * (1 + n2 / 4 + (n2 * n2) / 64 + (n2 * n2 * n2) / 256);
  // ξ + iη, in and out: an object for each position would be left to the collector.
  const zeta = new Float64Array(2);
  const latitude = inverseConformalLatitude(ellipsoid);
  let north = 0;
  const kernel: ProjectionKernel = {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) <= halfPi + 1e-12)) {
          setNaN(xy, i);
          continue;
        }
        const lam = wrapRadians(xy[2 * i]! - lon0);
        const sinLat = Math.sin(lat);
        const cosLat = Math.cos(lat);
        // tan of the conformal latitude; at the pole cosLat is 6e-17, which stays finite.
        const tau = sinLat / cosLat;
        const sigma = Math.sinh(e * Math.atanh(e * sinLat));
        const tau1 = tau * Math.sqrt(1 + sigma * sigma) - (sigma / cosLat) * (cosLat < 0 ? -1 : 1);
        const cosLam = Math.cos(lam);
        const xi = Math.atan2(tau1, cosLam);
        const eta = Math.asinh(Math.sin(lam) / Math.sqrt(tau1 * tau1 + cosLam * cosLam));
        if (!(Math.abs(eta) <= maxEta)) {
          setNaN(xy, i);
          continue;
        }
        sumSeries(alpha, xi, eta, zeta);
        xy[2 * i] = radius * (eta + zeta[1]!) + x0;
        xy[2 * i + 1] = radius * (xi + zeta[0]!) - north + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const eta = (xy[2 * i]! - x0) / radius;
        const xi = (xy[2 * i + 1]! - y0 + north) / radius;
        if (!(Math.abs(eta) <= maxEta) || !Number.isFinite(xi)) {
          setNaN(xy, i);
          continue;
        }
        sumSeries(beta, xi, eta, zeta);
        const sinhEta = Math.sinh(eta - zeta[1]!);
        const xi1 = xi - zeta[0]!;
        const cosXi = Math.cos(xi1);
        const tau1 = Math.sin(xi1) / Math.sqrt(sinhEta * sinhEta + cosXi * cosXi);
        xy[2 * i] = wrapRadians(Math.atan2(sinhEta, cosXi) + lon0);
        xy[2 * i + 1] = latitude(Math.atan(tau1));
      }
    },
  };
  if (lat0 !== 0) {
    const origin = new Float64Array([lon0, lat0]);
    kernel.forward(origin, 0, 1);
    north = origin[1]! - y0;
  }
  return kernel;
}

/** Clenshaw's sum of c_j sin(2jζ), j from 1 to 6, for the complex ζ = ξ + iη: real and imaginary part into `sum`. */
function sumSeries(coefficients: SixTerms, xi: number, eta: number, sum: Float64Array): void {
  const s = Math.sin(2 * xi);
  const c = Math.cos(2 * xi);
  const sh = Math.sinh(2 * eta);
  const ch = Math.sqrt(1 + sh * sh);
  const re = 2 * c * ch;
  const im = -2 * s * sh;
  let r2 = coefficients[5];
  let i2 = 0;
  let r1 = re * r2 + coefficients[4];
  let i1 = im * r2;
  let r0 = re * r1 - im * i1 - r2 + coefficients[3];
  let i0 = im * r1 + re * i1 - i2;
  r2 = re * r0 - im * i0 - r1 + coefficients[2];
  i2 = im * r0 + re * i0 - i1;
  r1 = re * r2 - im * i2 - r0 + coefficients[1];
  i1 = im * r2 + re * i2 - i0;
  r0 = re * r1 - im * i1 - r2 + coefficients[0];
  i0 = im * r1 + re * i1 - i2;
  const sr = s * ch;
  const si = c * sh;
  sum[0] = sr * r0 - si * i0;
  sum[1] = sr * i0 + si * r0;
}

type SixTerms = readonly [number, number, number, number, number, number];

/** Coefficients of Krüger's series in the third flattening n (Karney 2011, eq. 35 and 36). */
function kruegerSeries(n: number): readonly [forward: SixTerms, inverse: SixTerms] {
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
