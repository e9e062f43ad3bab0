import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, halfPi } from "./kernels.js";
import { meridianArc, meridionalRadius, primeVerticalRadius } from "./latitudes.js";
import { type Mapping, setNoImage } from "./mapping.js";

/** Radians from the central meridian, beyond which the series is not unique near the poles. */
const maxLongitudeOffset = Math.PI / 6;

/**
 * EPSG methods 9806 and 9833, Cassini-Soldner and its hyperbolic variant (guidance note 7-2, 3.2.2), within 30° of the
 * central meridian.
 */
export function cassini(ellipsoid: Ellipsoid, lat0: number, hyperbolic: boolean): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridianArc(ellipsoid);
  const origin = distance(lat0);
  const project: Mapping["forward"] = (lam, phi, out) => {
    const [sin, cos, tan] = [Math.sin(phi), Math.cos(phi), Math.tan(phi)];
    const nu = primeVerticalRadius(e2, sin);
    const a = lam * cos;
    const a2 = a * a;
    const t = tan * tan;
    const c = (e2 * cos * cos) / (1 - e2);
    const north = distance(phi) - origin + nu * tan * a2 * (1 / 2 + ((5 - t + 6 * c) * a2) / 24);
    out[0] = nu * a * (1 - a2 * t * (1 / 6 + ((8 - t + 8 * c) * a2) / 120));
    out[1] = hyperbolic ? north - north ** 3 / (6 * meridionalRadius(e2, sin) * nu) : north;
  };
  return {
    forward(lam, phi, out) {
      if (Math.abs(phi) > halfPi - 1e-10 || Math.abs(lam) > maxLongitudeOffset) return setNoImage(out);
      project(lam, phi, out);
    },
    // The guidance note's inverse series is centimetres off at the edges; so the forward one is solved (as in PROJ).
    inverse(x, y, out) {
      let phi = latitude(origin + y);
      let lam = x / (primeVerticalRadius(e2, Math.sin(phi)) * Math.cos(phi));
      for (let step = 0; step < 40; step++) {
        project(lam, phi, out);
        const sin = Math.sin(phi);
        const east = (x - out[0]!) / (primeVerticalRadius(e2, sin) * Math.cos(phi));
        const north = (y - out[1]!) / meridionalRadius(e2, sin);
        lam += east;
        phi += north;
        if (Math.abs(east) + Math.abs(north) < 1e-14) break;
      }
      if (!(Math.abs(phi) < halfPi && Math.abs(lam) <= maxLongitudeOffset)) return setNoImage(out);
      out[0] = lam;
      out[1] = phi;
    },
  };
}
