/** The earth seen from a height. */
import type { Ellipsoid } from "../definitions/definition.js";
import { flattening } from "./kernels.js";
import { clampedAsin, type Mapping, setNoImage } from "./mapping.js";

/** Vertical near-side perspective of a sphere (Snyder 1987, 23-1 to 23-16). `height` in metres. */
export function nearSide(ellipsoid: Ellipsoid, lat0: number, height: number): Mapping | null {
  const p = 1 + height / ellipsoid.a;
  if (!(p > 1)) return null;
  const [sin0, cos0] = [Math.sin(lat0), Math.cos(lat0)];
  return {
    forward(lam, phi, out) {
      const along = Math.cos(phi) * Math.cos(lam);
      const near = sin0 * Math.sin(phi) + cos0 * along;
      if (near < 1 / p) return setNoImage(out);
      const k = (p - 1) / (p - near);
      out[0] = k * Math.cos(phi) * Math.sin(lam);
      out[1] = k * (cos0 * Math.sin(phi) - sin0 * along);
    },
    inverse(x, y, out) {
      const rho = Math.hypot(x, y);
      const square = 1 - (rho * rho * (p + 1)) / (p - 1);
      if (square < 0) return setNoImage(out);
      const sin = rho === 0 ? 0 : (p - Math.sqrt(square)) / ((p - 1) / rho + rho / (p - 1));
      const cos = Math.sqrt(1 - sin * sin);
      const [east, north] = rho === 0 ? [0, 0] : [(x * sin) / rho, (y * sin) / rho];
      out[0] = Math.atan2(east, cos * cos0 - north * sin0);
      out[1] = clampedAsin(cos * sin0 + north * cos0);
    },
  };
}

/**
 * Geostationary satellite view, sweeping north and south (CGMS 03, 4.4.3): x and y are the scanning angles times the
 * height. `height` above the ellipsoid, in metres.
 */
export function geostationary(ellipsoid: Ellipsoid, height: number): Mapping | null {
  const h = height / ellipsoid.a;
  if (!(h > 0)) return null;
  const far = 1 + h;
  const b = 1 - flattening(ellipsoid);
  const b2 = b * b;
  return {
    forward(lam, phi, out) {
      const geocentric = Math.atan(b2 * Math.tan(phi));
      const r = b / Math.hypot(b * Math.cos(geocentric), Math.sin(geocentric));
      const x = r * Math.cos(lam) * Math.cos(geocentric);
      const y = r * Math.sin(lam) * Math.cos(geocentric);
      const z = r * Math.sin(geocentric);
      if ((far - x) * x - y * y - (z * z) / b2 < 0) return setNoImage(out);
      out[0] = h * Math.atan(y / (far - x));
      out[1] = h * Math.atan(z / Math.hypot(y, far - x));
    },
    inverse(x, y, out) {
      // The ray's direction, and where it meets the ellipsoid first.
      const east = Math.tan(x / h);
      const north = Math.tan(y / h) * Math.hypot(1, east);
      const a = (north * north) / b2 + east * east + 1;
      const square = far * far - a * (far * far - 1);
      if (square < 0) return setNoImage(out);
      const k = (far - Math.sqrt(square)) / a;
      const [u, v, w] = [far - k, k * east, k * north];
      out[0] = Math.atan2(v, u);
      out[1] = Math.atan(Math.tan(Math.atan2(w, Math.hypot(u, v))) / b2);
    },
  };
}
