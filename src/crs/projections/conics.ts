import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, halfPi } from "./kernels.js";
import { authalicLatitude, meridianArc, meridionalRadius, parallelRadius, primeVerticalRadius } from "./latitudes.js";
import { findRoot, type Mapping, setNoImage } from "./mapping.js";

export interface Parallels {
  readonly lat0: number;
  readonly lat1: number;
  readonly lat2: number;
}

/** EPSG method 9822, Albers equal area (Snyder 1987, 14-1 to 14-21). */
export function albers(ellipsoid: Ellipsoid, { lat0, lat1, lat2 }: Parallels): Mapping | null {
  if (Math.abs(lat1 + lat2) < 1e-10) return null;
  const e2 = eccentricitySquared(ellipsoid);
  const { q, latitude } = authalicLatitude(ellipsoid);
  const [m1, m2] = [parallelRadius(e2, lat1), parallelRadius(e2, lat2)];
  const [q1, q2] = [q(Math.sin(lat1)), q(Math.sin(lat2))];
  const n = Math.abs(lat1 - lat2) < 1e-10 ? Math.sin(lat1) : (m1 * m1 - m2 * m2) / (q2 - q1);
  const c = m1 * m1 + n * q1;
  const radius = (sin: number) => {
    const square = c - n * q(sin);
    return square < 0 ? (square > -1e-12 ? 0 : Number.NaN) : Math.sqrt(square) / n;
  };
  const rho0 = radius(Math.sin(lat0));
  const sign = n < 0 ? -1 : 1;
  return {
    forward(lam, phi, out) {
      const rho = radius(Math.sin(phi));
      out[0] = rho * Math.sin(n * lam);
      out[1] = rho0 - rho * Math.cos(n * lam);
    },
    inverse(x, y, out) {
      const [east, south] = [sign * x, sign * (rho0 - y)];
      const rho = Math.hypot(east, south);
      out[0] = rho === 0 ? 0 : Math.atan2(east, south) / n;
      out[1] = latitude((c - rho * rho * n * n) / n);
    },
  };
}

/** EPSG method 1119, equidistant conic (Snyder 1987, 16-1 to 16-11). */
export function equidistantConic(ellipsoid: Ellipsoid, { lat0, lat1, lat2 }: Parallels): Mapping | null {
  if (Math.abs(lat1 + lat2) < 1e-10) return null;
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude, quarter } = meridianArc(ellipsoid);
  const [m1, m2] = [parallelRadius(e2, lat1), parallelRadius(e2, lat2)];
  const n = Math.abs(lat1 - lat2) < 1e-10 ? Math.sin(lat1) : (m1 - m2) / (distance(lat2) - distance(lat1));
  const apex = m1 / n + distance(lat1);
  const rho0 = apex - distance(lat0);
  const sign = n < 0 ? -1 : 1;
  return {
    forward(lam, phi, out) {
      const rho = apex - distance(phi);
      out[0] = rho * Math.sin(n * lam);
      out[1] = rho0 - rho * Math.cos(n * lam);
    },
    inverse(x, y, out) {
      const [east, south] = [sign * x, sign * (rho0 - y)];
      const along = apex - sign * Math.hypot(east, south);
      if (!(Math.abs(along) <= quarter + 1e-9)) return setNoImage(out);
      out[0] = Math.atan2(east, south) / n;
      out[1] = latitude(along);
    },
  };
}

/** EPSG method 9827, Bonne (Snyder 1987, 19-1 to 19-9). On the equator it is the sinusoidal. */
export function bonne(ellipsoid: Ellipsoid, lat1: number): Mapping | null {
  if (Math.abs(lat1) < 1e-10) return null;
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridianArc(ellipsoid);
  const apex = parallelRadius(e2, lat1) / Math.sin(lat1);
  const constant = apex + distance(lat1);
  return {
    forward(lam, phi, out) {
      const rho = constant - distance(phi);
      const angle = Math.abs(rho) < 1e-14 ? 0 : (parallelRadius(e2, phi) * lam) / rho;
      out[0] = rho * Math.sin(angle);
      out[1] = apex - rho * Math.cos(angle);
    },
    inverse(x, y, out) {
      const sign = lat1 < 0 ? -1 : 1;
      const south = apex - y;
      const rho = sign * Math.hypot(x, south);
      const phi = latitude(constant - rho);
      const m = parallelRadius(e2, phi);
      if (!(Math.abs(phi) <= halfPi + 1e-9)) return setNoImage(out);
      out[0] = m < 1e-12 ? 0 : (rho * Math.atan2(sign * x, sign * south)) / m;
      out[1] = phi;
    },
  };
}

/** EPSG method 9818, American polyconic (Snyder 1987, 18-1 to 18-21). */
export function polyconic(ellipsoid: Ellipsoid, lat0: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const { distance } = meridianArc(ellipsoid);
  const origin = distance(lat0);
  return {
    forward(lam, phi, out) {
      if (Math.abs(phi) < 1e-10) {
        out[0] = lam;
        out[1] = -origin;
        return;
      }
      const sin = Math.sin(phi);
      const radius = (primeVerticalRadius(e2, sin) * Math.cos(phi)) / sin;
      const angle = lam * sin;
      out[0] = radius * Math.sin(angle);
      // 1 − cos, without the digits that the difference loses near the equator.
      out[1] = distance(phi) - origin + 2 * radius * Math.sin(angle / 2) ** 2;
    },
    inverse(x, y, out) {
      const a = origin + y;
      if (Math.abs(a) < 1e-10) {
        out[0] = x;
        out[1] = 0;
        return;
      }
      const b = x * x + a * a;
      let phi = a;
      for (let step = 0; step < 50; step++) {
        const sin = Math.sin(phi);
        const twice = Math.sin(2 * phi);
        const c = Math.sqrt(1 - e2 * sin * sin) * Math.tan(phi);
        const m = distance(phi);
        const slope = meridionalRadius(e2, sin);
        const s = m * m + b;
        const change =
          (a * (c * m + 1) - m - 0.5 * s * c) /
          ((e2 * twice * (s - 2 * a * m)) / (4 * c) + (a - m) * (c * slope - 2 / twice) - slope);
        phi -= change;
        if (Math.abs(change) < 1e-14) break;
      }
      const sin = Math.sin(phi);
      out[0] = Math.asin(x * Math.tan(phi) * Math.sqrt(1 - e2 * sin * sin)) / sin;
      out[1] = phi;
    },
  };
}

/** EPSG method 9817, Lambert conic near-conformal (guidance note 7-2, 3.1.2). `k` scales the distance along the meridian. */
export function nearConformal(ellipsoid: Ellipsoid, lat0: number, k: number): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridianArc(ellipsoid);
  const sin0 = Math.sin(lat0);
  const nu = primeVerticalRadius(e2, sin0);
  const cubic = 1 / (6 * meridionalRadius(e2, sin0) * nu);
  const apex = (k * nu) / Math.tan(lat0);
  const origin = distance(lat0);
  return {
    forward(lam, phi, out) {
      const m = distance(phi) - origin;
      const along = k * (m + cubic * m ** 3);
      const angle = lam * sin0;
      out[0] = (apex - along) * Math.sin(angle);
      out[1] = along + out[0]! * Math.tan(angle / 2);
    },
    inverse(x, y, out) {
      const angle = Math.atan2(x, apex - y);
      const along = y - x * Math.tan(angle / 2);
      const m = findRoot(
        along / k,
        (at) => k * (at + cubic * at ** 3) - along,
        (at) => k * (1 + 3 * cubic * at * at),
      );
      out[0] = angle / sin0;
      out[1] = latitude(origin + m);
    },
  };
}
