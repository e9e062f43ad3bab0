/** Maps that one country defined for itself. */
import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, halfPi } from "./kernels.js";
import { inverseIsometricLatitude, isometricLatitude, meridionalRadius, primeVerticalRadius } from "./latitudes.js";
import { createSolver, type Mapping, setNoImage } from "./mapping.js";

export interface KrovakParameters {
  readonly lat0: number;
  /** Co-latitude of the cone's axis. */
  readonly colatitude: number;
  readonly pseudoParallel: number;
  readonly k: number;
}

/**
 * EPSG methods 9819 and 1041, Krovak (guidance note 7-2, 3.1.4): southing and westing of the oblique cone's apex, which
 * `out` takes as x and y.
 */
export function krovak(ellipsoid: Ellipsoid, { lat0, colatitude, pseudoParallel, k }: KrovakParameters): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const sin0 = Math.sin(lat0);
  const b = Math.sqrt(1 + (e2 * Math.cos(lat0) ** 4) / (1 - e2));
  const constant = Math.atanh(sin0 / b) - b * isometricLatitude(lat0, e);
  const radius = Math.sqrt(1 - e2) / (1 - e2 * sin0 * sin0);
  const n = Math.sin(pseudoParallel);
  const scale = ((k * radius) / Math.tan(pseudoParallel)) * Math.exp(n * Math.asinh(Math.tan(pseudoParallel)));
  const [sinA, cosA] = [Math.sin(colatitude), Math.cos(colatitude)];
  return {
    forward(lam, phi, out) {
      if (Math.abs(phi) > halfPi - 1e-10) return setNoImage(out);
      const psi = b * isometricLatitude(phi, e) + constant;
      const [sin, cos] = [Math.tanh(psi), 1 / Math.cosh(psi)];
      const v = -b * lam;
      const sine = cosA * sin + sinA * cos * Math.cos(v);
      const d = Math.atan2(cos * Math.sin(v), cosA * cos * Math.cos(v) - sinA * sin);
      const r = scale * Math.exp(-n * Math.atanh(sine));
      out[0] = r * Math.cos(n * d);
      out[1] = r * Math.sin(n * d);
    },
    inverse(x, y, out) {
      const r = Math.hypot(x, y);
      if (r === 0) return setNoImage(out);
      const d = Math.atan2(y, x) / n;
      const t = Math.log(scale / r) / n;
      const [sin, cos] = [Math.tanh(t), 1 / Math.cosh(t)];
      const sine = cosA * sin - sinA * cos * Math.cos(d);
      const v = Math.atan2(cos * Math.sin(d), cosA * cos * Math.cos(d) + sinA * sin);
      out[0] = -v / b;
      out[1] = inverseIsometricLatitude((Math.atanh(sine) - constant) / b, e);
    },
  };
}

/** Of EPSG's conversions 5219 and 5220 of Czechia (guidance note 7-2, 3.1.4.2), in metres; no other has been defined. */
const krovakOrigin = [1089000, 654000] as const;
const krovakTerms = [
  0.02946529277, 0.02515965696, 1.193845912e-7, -4.66827014e-7, 9.233980362e-12, 1.523735715e-12, 1.696780024e-18,
  4.408314235e-18, -8.331083518e-24, -3.689471323e-24,
] as const;

/** EPSG methods 1042 and 1043, Krovak modified: Krovak moved by a polynomial of centimetres. Southing and westing. */
export function krovakModified(ellipsoid: Ellipsoid, parameters: KrovakParameters): Mapping {
  const { a } = ellipsoid;
  const plain = krovak(ellipsoid, parameters);
  const moved = new Float64Array(2);
  const shift = (southing: number, westing: number) => {
    const [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10] = krovakTerms;
    const x = southing - krovakOrigin[0];
    const y = westing - krovakOrigin[1];
    const [x2, y2] = [x * x, y * y];
    const fourth = x2 * x2 + y2 * y2 - 6 * x2 * y2;
    moved[0] =
      c1 +
      c3 * x -
      c4 * y -
      2 * c6 * x * y +
      c5 * (x2 - y2) +
      c7 * x * (x2 - 3 * y2) -
      c8 * y * (3 * x2 - y2) +
      4 * c9 * x * y * (x2 - y2) +
      c10 * fourth;
    moved[1] =
      c2 +
      c3 * y +
      c4 * x +
      2 * c5 * x * y +
      c6 * (x2 - y2) +
      c8 * x * (x2 - 3 * y2) +
      c7 * y * (3 * x2 - y2) -
      4 * c10 * x * y * (x2 - y2) +
      c9 * fourth;
  };
  return {
    forward(lam, phi, out) {
      plain.forward(lam, phi, out);
      shift(a * out[0]!, a * out[1]!);
      out[0] = out[0]! - moved[0]! / a;
      out[1] = out[1]! - moved[1]! / a;
    },
    inverse(x, y, out) {
      let [southing, westing] = [a * x, a * y];
      // Each step leaves a millionth of the error.
      for (let step = 0; step < 4; step++) {
        shift(southing, westing);
        southing = a * x + moved[0]!;
        westing = a * y + moved[1]!;
      }
      plain.inverse(southing / a, westing / a, out);
    },
  };
}

/** Coefficients of the guidance note (7-2, 3.5.4.1) and of Reilly 1973: of isometric latitude, of the map, of latitude. */
const tpsi = [
  0.6399175073, -0.1358797613, 0.063294409, -0.02526853, 0.0117879, -0.0055161, 0.0026906, -0.001333, 0.00067, -0.00034,
];
const mapReal = [0.7557853228, 0.249204646, -0.001541739, -0.10162907, -0.26623489, -0.6870983];
const mapImaginary = [0, 0.003371507, 0.04105856, 0.01727609, -0.36249218, -1.1651967];
const tphi = [1.5627014243, 0.5185406398, -0.03333098, -0.1052906, -0.0368594, 0.007317, 0.0122, 0.00394, -0.0013];
/** 1e5 seconds of arc. */
const latitudeUnit = (1e5 / 3600 / 180) * Math.PI;

/** EPSG method 9811, New Zealand Map Grid. */
export function newZealand(lat0: number): Mapping {
  const polynomial = (series: readonly number[], at: number) =>
    series.reduceRight((sum, coefficient) => coefficient + at * sum, 0) * at;
  const value = new Float64Array(4);
  /** The map of ψ + iλ, and its derivative. */
  const map = (re: number, im: number) => {
    let [vr, vi, dr, di] = [0, 0, 0, 0];
    for (let j = 5; j >= 0; j--) {
      const [c, d] = [mapReal[j]!, mapImaginary[j]!];
      [vr, vi] = [c + re * vr - im * vi, d + re * vi + im * vr];
      [dr, di] = [(j + 1) * c + re * dr - im * di, (j + 1) * d + re * di + im * dr];
    }
    value[0] = re * vr - im * vi;
    value[1] = re * vi + im * vr;
    value[2] = dr;
    value[3] = di;
  };
  return {
    forward(lam, phi, out) {
      map(polynomial(tpsi, (phi - lat0) / latitudeUnit), lam);
      out[0] = value[1]!;
      out[1] = value[0]!;
    },
    inverse(x, y, out) {
      let [re, im] = [y, x];
      for (let step = 0; step < 30; step++) {
        map(re, im);
        const [fr, fi, dr, di] = [value[0]! - y, value[1]! - x, value[2]!, value[3]!];
        const size = dr * dr + di * di;
        const moveR = (fr * dr + fi * di) / size;
        const moveI = (fi * dr - fr * di) / size;
        re -= moveR;
        im -= moveI;
        if (Math.abs(moveR) + Math.abs(moveI) < 1e-15) break;
      }
      out[0] = im;
      out[1] = lat0 + polynomial(tphi, re) * latitudeUnit;
    },
  };
}

/** EPSG method 1052, Colombia Urban (guidance note 7-2, 3.5.2). `height` in metres. */
export function colombiaUrban(ellipsoid: Ellipsoid, lat0: number, height: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const h = height / ellipsoid.a;
  const sin0 = Math.sin(lat0);
  const nu0 = primeVerticalRadius(e2, sin0);
  const rho0 = meridionalRadius(e2, sin0);
  const east = 1 + h / nu0;
  const curve = Math.tan(lat0) / (2 * rho0 * nu0);
  const forward: Mapping["forward"] = (lam, phi, out) => {
    const sin = Math.sin(phi);
    const across = lam * primeVerticalRadius(e2, sin) * Math.cos(phi);
    const north = 1 + h / meridionalRadius(e2, Math.sin((phi + lat0) / 2));
    out[0] = east * across;
    out[1] = north * rho0 * (phi - lat0 + curve * across * across);
  };
  const solve = createSolver(forward);
  return {
    forward,
    inverse(x, y, out) {
      out[1] = lat0 + y / rho0;
      out[0] = x / (nu0 * Math.cos(lat0));
      solve(x, y, out);
    },
  };
}

/**
 * EPSG method 9816, Tunisia Mining Grid (guidance note 7-2, 3.5.5): kilometres and grads, with constants of its own.
 * x and y are in kilometres with the false origin.
 */
export function tunisiaMining(): Mapping {
  const grad = Math.PI / 200;
  const [lat0, lon0, east0, north0] = [36.5964, 7.83445, 270, 360];
  const perEast = 0.012185;
  const perNorth = (isNorth: boolean) => (isNorth ? 0.010015 : 0.01002);
  return {
    forward(lam, phi, out) {
      const latitude = phi / grad;
      out[0] = east0 + (lam / grad - lon0) / perEast;
      out[1] = north0 + (latitude - lat0) / perNorth(latitude > lat0);
    },
    inverse(x, y, out) {
      out[0] = (lon0 + (x - east0) * perEast) * grad;
      out[1] = (lat0 + (y - north0) * perNorth(y > north0)) * grad;
    },
  };
}
