/** Azimuthal and two-point equidistant maps: distances from one or two points are true. */
import type { Ellipsoid } from "../definitions/definition.js";
import { isPole } from "./azimuthal.js";
import { flattening } from "./kernels.js";
import { meridianArc } from "./latitudes.js";
import { clampedAsin, type Mapping, setNoImage } from "./mapping.js";

/**
 * Azimuthal equidistant (Snyder 1987, 25-1 to 25-24) along geodesics, as PROJ has it; EPSG's modified azimuthal
 * equidistant (method 9832) is this one, to a fraction of a millimetre over its islands.
 */
export function azimuthalEquidistant(ellipsoid: Ellipsoid, lat0: number): Mapping {
  if (isPole(lat0)) return polarAspect(ellipsoid, lat0 < 0 ? -1 : 1);
  return ellipsoid.inverseFlattening === 0 ? sphericalAspect(lat0) : geodesicAspect(ellipsoid, lat0);
}

function polarAspect(ellipsoid: Ellipsoid, sign: 1 | -1): Mapping {
  const { distance, latitude, quarter } = meridianArc(ellipsoid);
  return {
    forward(lam, phi, out) {
      const rho = quarter - sign * distance(phi);
      out[0] = rho * Math.sin(lam);
      out[1] = -sign * rho * Math.cos(lam);
    },
    inverse(x, y, out) {
      const rho = Math.hypot(x, y);
      if (rho > 2 * quarter + 1e-9) return setNoImage(out);
      out[0] = rho === 0 ? 0 : Math.atan2(x, -sign * y);
      out[1] = sign * latitude(quarter - rho);
    },
  };
}

function sphericalAspect(lat0: number): Mapping {
  const [sin0, cos0] = [Math.sin(lat0), Math.cos(lat0)];
  return {
    forward(lam, phi, out) {
      const along = Math.cos(phi) * Math.cos(lam);
      const east = Math.cos(phi) * Math.sin(lam);
      const north = cos0 * Math.sin(phi) - sin0 * along;
      const side = Math.hypot(east, north);
      const near = sin0 * Math.sin(phi) + cos0 * along;
      if (side < 1e-14 && near < 0) return setNoImage(out);
      const factor = side < 1e-14 ? 1 : Math.atan2(side, near) / side;
      out[0] = factor * east;
      out[1] = factor * north;
    },
    inverse(x, y, out) {
      const c = Math.hypot(x, y);
      if (c > Math.PI + 1e-9) return setNoImage(out);
      const factor = c < 1e-14 ? 1 : Math.sin(c) / c;
      out[0] = Math.atan2(x * factor, cos0 * Math.cos(c) - y * factor * sin0);
      out[1] = clampedAsin(Math.cos(c) * sin0 + y * factor * cos0);
    },
  };
}

/** at + Σ c_l sin 2l·at, by Clenshaw's sum. */
function clenshawSum(c: Float64Array, at: number): number {
  const twice = 2 * Math.cos(2 * at);
  let b1 = 0;
  let b2 = 0;
  for (let l = c.length - 1; l >= 0; l--) {
    const b = c[l]! + twice * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return at + b1 * Math.sin(2 * at);
}

/** The series of a geodesic in its ε, to the sixth order, which leave nanometers (Karney 2013, eq. 15 to 25). */
function geodesicSeries(n: number) {
  const c1 = new Float64Array(6);
  const back = new Float64Array(6);
  const c3 = new Float64Array(5);
  return {
    /** Of distance against arc, and of arc against distance. */
    c1,
    back,
    /** Of longitude. */
    c3,
    a1: 0,
    a3: 0,
    at(e: number) {
      const [e2, e3, e4, e5, e6] = [e ** 2, e ** 3, e ** 4, e ** 5, e ** 6];
      this.a1 = (1 + e2 / 4 + e4 / 64 + e6 / 256) / (1 - e);
      c1[0] = -e / 2 + (3 / 16) * e3 - e5 / 32;
      c1[1] = -e2 / 16 + e4 / 32 - (9 / 2048) * e6;
      c1[2] = -e3 / 48 + (3 / 256) * e5;
      c1[3] = (-5 / 512) * e4 + (3 / 512) * e6;
      c1[4] = (-7 / 1280) * e5;
      c1[5] = (-7 / 2048) * e6;
      back[0] = e / 2 - (9 / 32) * e3 + (205 / 1536) * e5;
      back[1] = (5 / 16) * e2 - (37 / 96) * e4 + (1335 / 4096) * e6;
      back[2] = (29 / 96) * e3 - (75 / 128) * e5;
      back[3] = (539 / 1536) * e4 - (2391 / 2560) * e6;
      back[4] = (3467 / 7680) * e5;
      back[5] = (38081 / 61440) * e6;
      this.a3 =
        1 -
        (1 / 2 - n / 2) * e -
        (1 / 4 + n / 8 - (3 / 8) * n * n) * e2 -
        (1 / 16 + (3 / 16) * n + (n * n) / 16) * e3 -
        (3 / 64 + n / 32) * e4 -
        (3 / 128) * e5;
      c3[0] =
        (1 / 4 - n / 4) * e +
        (1 / 8 - (n * n) / 8) * e2 +
        (3 / 64 + (3 / 64) * n - (n * n) / 64) * e3 +
        (5 / 128 + n / 64) * e4 +
        (3 / 128) * e5;
      c3[1] =
        (1 / 16 - (3 / 32) * n + (n * n) / 32) * e2 +
        (3 / 64 - n / 32 - (3 / 64) * n * n) * e3 +
        (3 / 128 + n / 128) * e4 +
        (5 / 256) * e5;
      c3[2] = (5 / 192 - (3 / 64) * n + (5 / 192) * n * n) * e3 + (3 / 128 - (5 / 192) * n) * e4 + (7 / 512) * e5;
      c3[3] = (7 / 512 - (7 / 256) * n) * e4 + (7 / 512) * e5;
      c3[4] = (21 / 2560) * e5;
    },
  };
}

/**
 * Longitudes on the auxiliary sphere are found by repetition. Close to the point opposite the center that does not
 * settle: there is no image.
 */
function geodesicAspect(ellipsoid: Ellipsoid, lat0: number): Mapping {
  const f = flattening(ellipsoid);
  const b = 1 - f;
  const second = (1 - b * b) / (b * b);
  const u1 = Math.atan(b * Math.tan(lat0));
  const [sin1, cos1] = [Math.sin(u1), Math.cos(u1)];
  const terms = geodesicSeries(f / (2 - f));
  const setTerms = (sinAlpha: number) => {
    const root = Math.sqrt(1 + (1 - sinAlpha * sinAlpha) * second);
    terms.at((root - 1) / (root + 1));
  };
  /** How much less the longitude is than that of the auxiliary sphere. */
  const less = (sinAlpha: number, from: number, to: number) =>
    f * sinAlpha * terms.a3 * (clenshawSum(terms.c3, to) - clenshawSum(terms.c3, from));
  return {
    forward(lam, phi, out) {
      const u2 = Math.atan(b * Math.tan(phi));
      const [sin2, cos2] = [Math.sin(u2), Math.cos(u2)];
      let l = lam;
      for (let step = 0; step < 200; step++) {
        const east = cos2 * Math.sin(l);
        const north = cos1 * sin2 - sin1 * cos2 * Math.cos(l);
        const side = Math.hypot(east, north);
        const near = sin1 * sin2 + cos1 * cos2 * Math.cos(l);
        if (side < 1e-15) {
          if (near < 0) return setNoImage(out);
          out[0] = 0;
          out[1] = 0;
          return;
        }
        const sinAlpha = (cos1 * east) / side;
        setTerms(sinAlpha);
        const from = Math.atan2(sin1, (cos1 * north) / side);
        const to = from + Math.atan2(side, near);
        const next = lam + less(sinAlpha, from, to);
        const settled = Math.abs(next - l) < 1e-14;
        l = next;
        if (Math.abs(l) > Math.PI) return setNoImage(out);
        if (!settled) continue;
        const distance = b * terms.a1 * (clenshawSum(terms.c1, to) - clenshawSum(terms.c1, from));
        out[0] = (distance * east) / side;
        out[1] = (distance * north) / side;
        return;
      }
      setNoImage(out);
    },
    inverse(x, y, out) {
      const distance = Math.hypot(x, y);
      if (distance > Math.PI) return setNoImage(out);
      const [sinAzimuth, cosAzimuth] = distance === 0 ? [0, 1] : [x / distance, y / distance];
      const from = Math.atan2(sin1, cos1 * cosAzimuth);
      const sinAlpha = cos1 * sinAzimuth;
      setTerms(sinAlpha);
      const to = clenshawSum(terms.back, clenshawSum(terms.c1, from) + distance / (b * terms.a1));
      const sigma = to - from;
      const [sinS, cosS] = [Math.sin(sigma), Math.cos(sigma)];
      const across = sin1 * sinS - cos1 * cosS * cosAzimuth;
      out[1] = Math.atan2(sin1 * cosS + cos1 * sinS * cosAzimuth, b * Math.hypot(sinAlpha, across));
      out[0] = Math.atan2(sinS * sinAzimuth, cos1 * cosS - sin1 * sinS * cosAzimuth) - less(sinAlpha, from, to);
    },
  };
}

/** Two-point equidistant, of a sphere (Snyder 1993, p. 234): the middle of both points is the origin. Radians. */
export function twoPointEquidistant(
  [lon1, lat1]: readonly [number, number],
  [lon2, lat2]: readonly [number, number],
): Mapping | null {
  const vector = (lon: number, lat: number): Vector => [
    Math.cos(lat) * Math.cos(lon),
    Math.cos(lat) * Math.sin(lon),
    Math.sin(lat),
  ];
  const [p, q] = [vector(lon1, lat1), vector(lon2, lat2)];
  const between = Math.acos(Math.max(-1, Math.min(1, dotProduct(p, q))));
  if (between < 1e-10 || between > Math.PI - 1e-10) return null;
  const half = between / 2;
  // Towards the middle, along the line from the first point to the second, and to the left of it.
  const ahead = p.map((value, i) => (value + q[i]!) / (2 * Math.cos(half))) as unknown as Vector;
  const along = p.map((value, i) => (q[i]! - value) / (2 * Math.sin(half))) as unknown as Vector;
  const left: Vector = [
    ahead[1] * along[2] - ahead[2] * along[1],
    ahead[2] * along[0] - ahead[0] * along[2],
    ahead[0] * along[1] - ahead[1] * along[0],
  ];
  const angle = (a: Vector, b: Vector) =>
    2 *
    Math.atan2(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), Math.hypot(a[0] + b[0], a[1] + b[1], a[2] + b[2]));
  return {
    forward(lam, phi, out) {
      const at = vector(lam, phi);
      const [z1, z2] = [angle(at, p), angle(at, q)];
      const x = (z1 * z1 - z2 * z2) / (2 * between);
      const square = z1 * z1 - (x + half) ** 2;
      out[0] = x;
      out[1] = Math.sqrt(Math.max(0, square)) * (dotProduct(at, left) < 0 ? -1 : 1);
    },
    inverse(x, y, out) {
      const [cos1, cos2] = [Math.cos(Math.hypot(x + half, y)), Math.cos(Math.hypot(x - half, y))];
      const u = (cos1 + cos2) / (2 * Math.cos(half));
      const v = (cos2 - cos1) / (2 * Math.sin(half));
      const square = 1 - u * u - v * v;
      if (square < -1e-9) return setNoImage(out);
      const w = Math.sqrt(Math.max(0, square)) * (y < 0 ? -1 : 1);
      const [a, b, c] = ahead.map((value, i) => u * value + v * along[i]! + w * left[i]!) as unknown as Vector;
      out[0] = Math.atan2(b, a);
      out[1] = Math.atan2(c, Math.hypot(a, b));
    },
  };
}

type Vector = readonly [number, number, number];
const dotProduct = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
