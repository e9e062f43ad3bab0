import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, halfPi } from "./kernels.js";
import {
  authalicLatitude,
  inverseIsometricLatitude,
  isometricLatitude,
  meridianArc,
  parallelRadius,
  primeVerticalRadius,
} from "./latitudes.js";
import { clampedAsin, type Mapping, setNoImage } from "./mapping.js";

export const isPole = (latitude: number): boolean => Math.abs(Math.abs(latitude) - halfPi) < 1e-10;

/** Mirrors a northern map to the south by changing the sign of both axes and the latitude. */
const mirrorSouth = (north: Mapping): Mapping => ({
  forward(lam, phi, out) {
    north.forward(lam, -phi, out);
    out[1] = -out[1]!;
  },
  inverse(x, y, out) {
    north.inverse(x, -y, out);
    out[1] = -out[1]!;
  },
});

/**
 * EPSG methods 9810 and 9829, polar stereographic (guidance note 7-2, 3.3.2; Snyder 1987, 21-33 to 21-40).
 * @param lat1 where the scale is `k`, of the same sign as the pole: the pole itself, or the parallel of true scale
 */
export function polarStereographic(ellipsoid: Ellipsoid, lat1: number, k: number): Mapping {
  const e = Math.sqrt(eccentricitySquared(ellipsoid));
  const parallel = Math.abs(lat1);
  const scale = isPole(parallel)
    ? (2 * k) / Math.sqrt((1 + e) ** (1 + e) * (1 - e) ** (1 - e))
    : k * parallelRadius(e * e, parallel) * Math.exp(isometricLatitude(parallel, e));
  const north: Mapping = {
    forward(lam, phi, out) {
      if (phi < -halfPi + 1e-10) return setNoImage(out);
      const rho = phi > halfPi - 1e-14 ? 0 : scale * Math.exp(-isometricLatitude(phi, e));
      out[0] = rho * Math.sin(lam);
      out[1] = -rho * Math.cos(lam);
    },
    inverse(x, y, out) {
      const rho = Math.hypot(x, y);
      out[0] = rho === 0 ? 0 : Math.atan2(x, -y);
      out[1] = rho === 0 ? halfPi : inverseIsometricLatitude(-Math.log(rho / scale), e);
    },
  };
  return lat1 < 0 ? mirrorSouth(north) : north;
}

/** How far the standard parallel of a polar stereographic lies from the pole, in units of the semi-major axis. */
export const polarRadius = (ellipsoid: Ellipsoid, lat1: number): number =>
  parallelRadius(eccentricitySquared(ellipsoid), lat1);

/** Stereographic of any aspect by the conformal sphere of its center (Snyder 1987, 21-24 to 21-38), as ESRI and PROJ have it. */
export function stereographic(ellipsoid: Ellipsoid, lat0: number, k: number): Mapping {
  if (isPole(lat0)) return polarStereographic(ellipsoid, lat0, k);
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const chi0 = Math.atan(Math.sinh(isometricLatitude(lat0, e)));
  const scale = (2 * k * parallelRadius(e2, lat0)) / Math.cos(chi0);
  return stereographicOnConformalSphere(
    chi0,
    scale,
    (phi) => isometricLatitude(phi, e),
    (psi) => inverseIsometricLatitude(psi, e),
  );
}

/** EPSG method 9809, oblique (double) stereographic (guidance note 7-2, 3.3.1). */
export function obliqueStereographic(ellipsoid: Ellipsoid, lat0: number, k: number): Mapping | null {
  if (isPole(lat0)) return null;
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const sin0 = Math.sin(lat0);
  const n = Math.sqrt(1 + (e2 * Math.cos(lat0) ** 4) / (1 - e2));
  const chi0 = Math.asin(sin0 / n);
  const radius = Math.sqrt(1 - e2) / (1 - e2 * sin0 * sin0);
  const constant = Math.asinh(Math.tan(chi0)) - n * isometricLatitude(lat0, e);
  const sphere = stereographicOnConformalSphere(
    chi0,
    2 * k * radius,
    (phi) => n * isometricLatitude(phi, e) + constant,
    (psi) => inverseIsometricLatitude((psi - constant) / n, e),
  );
  return {
    forward: (lam, phi, out) => sphere.forward(n * lam, phi, out),
    inverse(x, y, out) {
      sphere.inverse(x, y, out);
      out[0] = out[0]! / n;
    },
  };
}

/** The stereographic map of a sphere whose isometric latitude is a function of the ellipsoid's latitude. */
function stereographicOnConformalSphere(
  chi0: number,
  scale: number,
  to: (phi: number) => number,
  from: (psi: number) => number,
): Mapping {
  const sin0 = Math.sin(chi0);
  const cos0 = Math.cos(chi0);
  return {
    forward(lam, phi, out) {
      const psi = to(phi);
      const sin = Math.abs(phi) >= halfPi - 1e-14 ? Math.sign(phi) : Math.tanh(psi);
      const cos = Math.abs(phi) >= halfPi - 1e-14 ? 0 : 1 / Math.cosh(psi);
      const along = cos * Math.cos(lam);
      const divisor = 1 + sin0 * sin + cos0 * along;
      if (divisor < 1e-10) return setNoImage(out);
      out[0] = (scale * cos * Math.sin(lam)) / divisor;
      out[1] = (scale * (cos0 * sin - sin0 * along)) / divisor;
    },
    inverse(x, y, out) {
      const rho = Math.hypot(x, y);
      const c = 2 * Math.atan(rho / scale);
      const sine = rho === 0 ? sin0 : Math.cos(c) * sin0 + (y * Math.sin(c) * cos0) / rho;
      out[0] = Math.atan2(x * Math.sin(c), rho * cos0 * Math.cos(c) - y * sin0 * Math.sin(c));
      if (rho === 0) out[0] = 0;
      out[1] = Math.abs(sine) >= 1 ? Math.sign(sine) * halfPi : from(Math.atanh(sine));
    },
  };
}

/** EPSG method 9820, Lambert azimuthal equal area (guidance note 7-2, 3.3.3; Snyder 1987, 24-17 to 24-32). */
export function lambertAzimuthal(ellipsoid: Ellipsoid, lat0: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const { q, qAtPole, latitude, qToPole, latitudeOfQToPole } = authalicLatitude(ellipsoid);
  if (isPole(lat0)) {
    const north: Mapping = {
      forward(lam, phi, out) {
        const rho = Math.sqrt(qToPole(phi));
        out[0] = rho * Math.sin(lam);
        out[1] = -rho * Math.cos(lam);
      },
      inverse(x, y, out) {
        out[0] = x === 0 && y === 0 ? 0 : Math.atan2(x, -y);
        out[1] = latitudeOfQToPole(x * x + y * y);
      },
    };
    return lat0 < 0 ? mirrorSouth(north) : north;
  }
  const radius = Math.sqrt(qAtPole / 2);
  const sin0 = q(Math.sin(lat0)) / qAtPole;
  const cos0 = Math.sqrt(1 - sin0 * sin0);
  const d = parallelRadius(e2, lat0) / (radius * cos0);
  return {
    forward(lam, phi, out) {
      const sin = q(Math.sin(phi)) / qAtPole;
      const cos = Math.sqrt(Math.max(0, 1 - sin * sin));
      const along = cos * Math.cos(lam);
      const divisor = 1 + sin0 * sin + cos0 * along;
      if (divisor < 1e-10) return setNoImage(out);
      const b = radius * Math.sqrt(2 / divisor);
      out[0] = b * d * cos * Math.sin(lam);
      out[1] = (b / d) * (cos0 * sin - sin0 * along);
    },
    inverse(x, y, out) {
      const [east, north] = [x / d, y * d];
      const rho = Math.hypot(east, north);
      const c = 2 * clampedAsin(rho / (2 * radius));
      const sine = rho === 0 ? sin0 : Math.cos(c) * sin0 + (north * Math.sin(c) * cos0) / rho;
      out[0] = rho === 0 ? 0 : Math.atan2(east * Math.sin(c), rho * cos0 * Math.cos(c) - north * sin0 * Math.sin(c));
      out[1] = latitude(sine * qAtPole);
    },
  };
}

/** EPSG method 9840, orthographic, on the ellipsoid (guidance note 7-2, 3.3.5): the near half of the earth. */
export function orthographic(ellipsoid: Ellipsoid, lat0: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const [sin0, cos0] = [Math.sin(lat0), Math.cos(lat0)];
  const nu0 = primeVerticalRadius(e2, sin0);
  const shift = e2 * nu0 * sin0;
  return {
    forward(lam, phi, out) {
      const [sin, cos] = [Math.sin(phi), Math.cos(phi)];
      if (sin0 * sin + cos0 * cos * Math.cos(lam) < -1e-10) return setNoImage(out);
      const nu = primeVerticalRadius(e2, sin);
      out[0] = nu * cos * Math.sin(lam);
      out[1] = nu * (sin * cos0 - cos * sin0 * Math.cos(lam)) + (shift - e2 * nu * sin) * cos0;
    },
    // Where the line of sight first meets the ellipsoid, in geocentric coordinates.
    inverse(x, y, out) {
      const u = nu0 * cos0 - y * sin0;
      const w = nu0 * (1 - e2) * sin0 + y * cos0;
      const a = cos0 * cos0 + (sin0 * sin0) / (1 - e2);
      const b = u * cos0 + (w * sin0) / (1 - e2);
      const c = u * u + x * x + (w * w) / (1 - e2) - 1;
      const square = b * b - a * c;
      if (square < -1e-12) return setNoImage(out);
      const t = (Math.sqrt(Math.max(0, square)) - b) / a;
      out[0] = Math.atan2(x, u + t * cos0);
      out[1] = Math.atan2(w + t * sin0, (1 - e2) * Math.hypot(x, u + t * cos0));
    },
  };
}

/**
 * EPSG method 1130, local orthographic (guidance note 7-2): turned about its center, so that the azimuth (radians,
 * clockwise from north) is the y axis, and scaled by `k`.
 */
export function localOrthographic(ellipsoid: Ellipsoid, lat0: number, azimuth: number, k: number): Mapping {
  const plain = orthographic(ellipsoid, lat0);
  const [sin, cos] = [Math.sin(azimuth), Math.cos(azimuth)];
  return {
    forward(lam, phi, out) {
      plain.forward(lam, phi, out);
      const [x, y] = [out[0]!, out[1]!];
      out[0] = k * (cos * x - sin * y);
      out[1] = k * (sin * x + cos * y);
    },
    inverse(x, y, out) {
      plain.inverse((cos * x + sin * y) / k, (cos * y - sin * x) / k, out);
    },
  };
}

/** Gnomonic of a sphere (Snyder 1987, 22-1 to 22-15): the near half of it. */
export function gnomonic(lat0: number): Mapping {
  const [sin0, cos0] = [Math.sin(lat0), Math.cos(lat0)];
  return {
    forward(lam, phi, out) {
      const along = Math.cos(phi) * Math.cos(lam);
      const near = sin0 * Math.sin(phi) + cos0 * along;
      if (near < 1e-10) return setNoImage(out);
      out[0] = (Math.cos(phi) * Math.sin(lam)) / near;
      out[1] = (cos0 * Math.sin(phi) - sin0 * along) / near;
    },
    inverse(x, y, out) {
      const cos = 1 / Math.sqrt(1 + x * x + y * y);
      out[0] = Math.atan2(x, cos0 - y * sin0);
      out[1] = clampedAsin(cos * (sin0 + y * cos0));
    },
  };
}

/** EPSG method 9831, the Guam projection (guidance note 7-2, 3.3.6): an azimuthal equidistant of small reach. */
export function guam(ellipsoid: Ellipsoid, lat0: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridianArc(ellipsoid);
  const origin = distance(lat0);
  return {
    forward(lam, phi, out) {
      const root = Math.sqrt(1 - e2 * Math.sin(phi) ** 2);
      const x = (lam * Math.cos(phi)) / root;
      out[0] = x;
      out[1] = distance(phi) - origin + (x * x * Math.tan(phi) * root) / 2;
    },
    inverse(x, y, out) {
      let phi = lat0;
      for (let step = 0; step < 20; step++) {
        const root = Math.sqrt(1 - e2 * Math.sin(phi) ** 2);
        const next = latitude(origin + y - (x * x * Math.tan(phi) * root) / 2);
        const change = next - phi;
        phi = next;
        if (Math.abs(change) < 1e-15) break;
      }
      out[0] = x / parallelRadius(e2, phi);
      out[1] = phi;
    },
  };
}
