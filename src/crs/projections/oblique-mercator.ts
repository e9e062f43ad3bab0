import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, halfPi } from "./kernels.js";
import { inverseIsometricLatitude, isometricLatitude } from "./latitudes.js";
import { clampedAsin, type Mapping, setNoImage } from "./mapping.js";

/** The line that a Hotine map is true along: through its center, at an azimuth; and the turn of the grid. Radians. */
export interface InitialLine {
  readonly lon0: number;
  readonly azimuth: number;
  readonly gamma: number;
}

/** A projection whose central meridian follows from its other parameters. */
export interface MappingWithMeridian {
  readonly lon0: number;
  readonly mapping: Mapping;
}

/**
 * EPSG methods 9812 and 9815, Hotine oblique Mercator (guidance note 7-2, 3.2.4; Snyder 1987, 9-9 to 9-50). Variant A
 * counts from where the line crosses the aposphere's equator, variant B from the center.
 */
export function hotine(
  ellipsoid: Ellipsoid,
  lat0: number,
  k: number,
  line: InitialLine,
  fromCenter: boolean,
): MappingWithMeridian | null {
  if (isAtLimit(lat0, halfPi)) return null;
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const sin0 = Math.sin(lat0);
  const cos0 = Math.cos(lat0);
  const b = Math.sqrt(1 + (e2 * cos0 ** 4) / (1 - e2));
  const a = (b * k * Math.sqrt(1 - e2)) / (1 - e2 * sin0 * sin0);
  const d = Math.max(1, (b * Math.sqrt(1 - e2)) / (cos0 * Math.sqrt(1 - e2 * sin0 * sin0)));
  const f = d + Math.sqrt(d * d - 1) * (lat0 < 0 ? -1 : 1);
  const h = f * Math.exp(-b * isometricLatitude(lat0, e));
  const gamma0 = Math.asin(Math.sin(line.azimuth) / d);
  const lon0 = line.lon0 - clampedAsin(((f - 1 / f) / 2) * Math.tan(gamma0)) / b;
  if (Number.isNaN(lon0)) return null;
  const [sinGamma, cosGamma] = [Math.sin(gamma0), Math.cos(gamma0)];
  const [sinTurn, cosTurn] = [Math.sin(line.gamma), Math.cos(line.gamma)];
  const ab = a / b;
  const center = Math.abs(ab * Math.atan(Math.sqrt(d * d - 1) / Math.cos(line.azimuth))) * (lat0 < 0 ? -1 : 1);
  const u0 = fromCenter ? center : 0;
  return {
    lon0,
    mapping: {
      forward(lam, phi, out) {
        let u: number;
        let v: number;
        if (isAtLimit(phi, halfPi)) {
          v = ab * Math.log(Math.tan(Math.PI / 4 - (Math.sign(phi) * gamma0) / 2));
          u = ab * phi;
        } else {
          const q = h * Math.exp(b * isometricLatitude(phi, e));
          const s = (q - 1 / q) / 2;
          const t = (q + 1 / q) / 2;
          const w = Math.sin(b * lam);
          const sine = (s * sinGamma - w * cosGamma) / t;
          if (isAtLimit(sine, 1)) return setNoImage(out);
          v = -ab * Math.atanh(sine);
          u = ab * Math.atan2(s * cosGamma + w * sinGamma, Math.cos(b * lam));
        }
        u -= u0;
        out[0] = v * cosTurn + u * sinTurn;
        out[1] = u * cosTurn - v * sinTurn;
      },
      inverse(x, y, out) {
        const v = x * cosTurn - y * sinTurn;
        const u = y * cosTurn + x * sinTurn + u0;
        const q = Math.exp(-v / ab);
        const s = (q - 1 / q) / 2;
        const t = (q + 1 / q) / 2;
        const w = Math.sin(u / ab);
        const sine = (w * cosGamma + s * sinGamma) / t;
        if (isAtLimit(sine, 1)) {
          out[0] = 0;
          out[1] = Math.sign(sine) * halfPi;
          return;
        }
        out[0] = -Math.atan2(s * cosGamma - w * sinGamma, Math.cos(u / ab)) / b;
        out[1] = inverseIsometricLatitude((Math.atanh(sine) - Math.log(h)) / b, e);
      },
    },
  };
}

const isAtLimit = (value: number, limit: number): boolean => Math.abs(Math.abs(value) - limit) < 1e-10;

/** The Swiss oblique Mercator, which is variant B at an azimuth of 90° (swisstopo, Formulas and constants, 2016, 3.1). */
export function swissObliqueMercator(ellipsoid: Ellipsoid, lat0: number, k: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const sin0 = Math.sin(lat0);
  const alpha = Math.sqrt(1 + (e2 * Math.cos(lat0) ** 4) / (1 - e2));
  const radius = (k * Math.sqrt(1 - e2)) / (1 - e2 * sin0 * sin0);
  const sinB = sin0 / alpha;
  const cosB = Math.sqrt(1 - sinB * sinB);
  const constant = Math.atanh(sinB) - alpha * isometricLatitude(lat0, e);
  return {
    forward(lam, phi, out) {
      if (isAtLimit(phi, halfPi)) return setNoImage(out);
      const psi = alpha * isometricLatitude(phi, e) + constant;
      const [sin, cos] = [Math.tanh(psi), 1 / Math.cosh(psi)];
      const l = alpha * lam;
      out[0] = radius * Math.atan2(cos * Math.sin(l), sinB * sin + cosB * cos * Math.cos(l));
      out[1] = radius * Math.atanh(cosB * sin - sinB * cos * Math.cos(l));
    },
    inverse(x, y, out) {
      const l = x / radius;
      const psi = y / radius;
      const [sin, cos] = [Math.tanh(psi), 1 / Math.cosh(psi)];
      const sine = cosB * sin + sinB * cos * Math.cos(l);
      out[0] = Math.atan2(cos * Math.sin(l), cosB * cos * Math.cos(l) - sinB * sin) / alpha;
      out[1] = isAtLimit(sine, 1)
        ? Math.sign(sine) * halfPi
        : inverseIsometricLatitude((Math.atanh(sine) - constant) / alpha, e);
    },
  };
}

/** EPSG method 9813, Laborde's oblique Mercator of Madagascar (guidance note 7-2, 3.2.4.3). */
export function laborde(ellipsoid: Ellipsoid, lat0: number, azimuth: number, k: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const sin0 = Math.sin(lat0);
  const b = Math.sqrt(1 + (e2 * Math.cos(lat0) ** 4) / (1 - e2));
  const sinS = sin0 / b;
  const cosS = Math.sqrt(1 - sinS * sinS);
  const radius = (k * Math.sqrt(1 - e2)) / (1 - e2 * sin0 * sin0);
  const constant = Math.atanh(sinS) - b * isometricLatitude(lat0, e);
  const gr = (1 - Math.cos(2 * azimuth)) / 12;
  const gi = Math.sin(2 * azimuth) / 12;
  return {
    forward(lam, phi, out) {
      if (isAtLimit(phi, halfPi)) return setNoImage(out);
      const l = b * lam;
      const q = b * isometricLatitude(phi, e) + constant;
      const [sin, cos] = [Math.tanh(q), 1 / Math.cosh(q)];
      const u = cos * Math.cos(l) * cosS + sin * sinS;
      const v = cos * Math.cos(l) * sinS - sin * cosS;
      const w = cos * Math.sin(l);
      const hr = -Math.atan2(v, u);
      const hi = Math.atanh(w);
      const cr = hr * (hr * hr - 3 * hi * hi);
      const ci = hi * (3 * hr * hr - hi * hi);
      out[0] = radius * (hi + gr * ci + gi * cr);
      out[1] = radius * (hr + gr * cr - gi * ci);
    },
    inverse(x, y, out) {
      const [zr, zi] = [y / radius, x / radius];
      let [hr, hi] = [zr, zi];
      for (let step = 0; step < 30; step++) {
        const [sr, si] = [hr * hr - hi * hi, 2 * hr * hi];
        const [cr, ci] = [sr * hr - si * hi, sr * hi + si * hr];
        // (H + GH³ − z) / (1 + 3GH²)
        const [fr, fi] = [hr + gr * cr - gi * ci - zr, hi + gr * ci + gi * cr - zi];
        const [dr, di] = [1 + 3 * (gr * sr - gi * si), 3 * (gr * si + gi * sr)];
        const size = dr * dr + di * di;
        const moveR = (fr * dr + fi * di) / size;
        const moveI = (fi * dr - fr * di) / size;
        hr -= moveR;
        hi -= moveI;
        if (Math.abs(moveR) + Math.abs(moveI) < 1e-15) break;
      }
      const [sin, cos] = [Math.tanh(hi), 1 / Math.cosh(hi)];
      const u = cosS * cos * Math.cos(-hr) + sinS * cos * Math.sin(-hr);
      const v = sinS * cos * Math.cos(-hr) - cosS * cos * Math.sin(-hr);
      out[0] = Math.atan2(sin, u) / b;
      out[1] = inverseIsometricLatitude((Math.atanh(v) - constant) / b, e);
    },
  };
}
