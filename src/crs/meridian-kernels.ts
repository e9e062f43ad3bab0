import type { Ellipsoid } from "./definition.js";
import { type Conic, eccentricitySquared, flattening, type Kernel, outside, wrap } from "./kernels.js";

const halfPi = Math.PI / 2;

/** Rectifying latitude from the geographic, and back: series to the sixth order in n (Karney 2011, section 5). */
function rectifying(n: number): { forward: (lat: number) => number; inverse: (mu: number) => number } {
  const n2 = n * n;
  const n3 = n2 * n;
  const n4 = n3 * n;
  const n5 = n4 * n;
  const n6 = n5 * n;
  const c = [
    (-3 / 2) * n + (9 / 16) * n3 - (3 / 32) * n5,
    (15 / 16) * n2 - (15 / 32) * n4 + (135 / 2048) * n6,
    (-35 / 48) * n3 + (105 / 256) * n5,
    (315 / 512) * n4 - (189 / 512) * n6,
    (-693 / 1280) * n5,
    (1001 / 2048) * n6,
  ];
  const d = [
    (3 / 2) * n - (27 / 32) * n3 + (269 / 512) * n5,
    (21 / 16) * n2 - (55 / 32) * n4 + (6759 / 4096) * n6,
    (151 / 96) * n3 - (417 / 128) * n5,
    (1097 / 512) * n4 - (15543 / 2560) * n6,
    (8011 / 2560) * n5,
    (293393 / 61440) * n6,
  ];
  const sum = (series: readonly number[], at: number) =>
    series.reduce((total, value, index) => total + value * Math.sin(2 * (index + 1) * at), at);
  return { forward: (lat) => sum(c, lat), inverse: (mu) => sum(d, mu) };
}

/** Distance along the meridian from the equator to a latitude (radians), in metres, and back. */
function meridian(ellipsoid: Ellipsoid): { distance: (lat: number) => number; latitude: (distance: number) => number } {
  const f = flattening(ellipsoid);
  const n = f / (2 - f);
  const radius = (ellipsoid.a / (1 + n)) * (1 + n ** 2 / 4 + n ** 4 / 64 + n ** 6 / 256);
  const { forward, inverse } = rectifying(n);
  return { distance: (lat) => radius * forward(lat), latitude: (distance) => inverse(distance / radius) };
}

/** EPSG method 1119, equidistant conic (Snyder 1987, p. 111). Angles in radians. */
export function equidistantConic(ellipsoid: Ellipsoid, conic: Conic): Kernel | null {
  const { lat0, lon0, lat1, lat2, x0, y0 } = conic;
  if (Math.abs(lat1 + lat2) < 1e-10) return null;
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridian(ellipsoid);
  const quarter = distance(halfPi);
  const m = (lat: number) => Math.cos(lat) / Math.sqrt(1 - e2 * Math.sin(lat) ** 2);
  const cone =
    Math.abs(lat1 - lat2) < 1e-10
      ? Math.sin(lat1)
      : (ellipsoid.a * (m(lat1) - m(lat2))) / (distance(lat2) - distance(lat1));
  const g = (ellipsoid.a * m(lat1)) / cone + distance(lat1);
  const rho0 = g - distance(lat0);
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) <= halfPi + 1e-10)) {
          outside(xy, i);
          continue;
        }
        const rho = g - distance(lat);
        const theta = cone * wrap(xy[2 * i]! - lon0);
        xy[2 * i] = rho * Math.sin(theta) + x0;
        xy[2 * i + 1] = rho0 - rho * Math.cos(theta) + y0;
      }
    },
    inverse(xy, from, to) {
      const sign = cone < 0 ? -1 : 1;
      for (let i = from; i < to; i++) {
        const x = sign * (xy[2 * i]! - x0);
        const y = sign * (rho0 - (xy[2 * i + 1]! - y0));
        const rho = sign * Math.sqrt(x * x + y * y);
        const along = g - rho;
        if (!(Math.abs(along) <= quarter + 1e-3)) {
          outside(xy, i);
          continue;
        }
        xy[2 * i] = wrap(Math.atan2(x, y) / cone + lon0);
        xy[2 * i + 1] = latitude(along);
      }
    },
  };
}

/** EPSG method 1028, equidistant cylindrical on the ellipsoid (guidance note 7-2, 3.2.5). Angles in radians. */
export function equidistantCylindrical(
  ellipsoid: Ellipsoid,
  lat1: number,
  lon0: number,
  x0: number,
  y0: number,
): Kernel {
  const { distance, latitude } = meridian(ellipsoid);
  const quarter = distance(halfPi);
  const perRadian =
    (ellipsoid.a * Math.cos(lat1)) / Math.sqrt(1 - eccentricitySquared(ellipsoid) * Math.sin(lat1) ** 2);
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        if (!(Math.abs(lat) <= halfPi + 1e-10)) {
          outside(xy, i);
          continue;
        }
        xy[2 * i] = perRadian * wrap(xy[2 * i]! - lon0) + x0;
        xy[2 * i + 1] = distance(lat) + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const northing = xy[2 * i + 1]! - y0;
        if (!(Math.abs(northing) <= quarter + 1e-3)) {
          outside(xy, i);
          continue;
        }
        xy[2 * i] = wrap((xy[2 * i]! - x0) / perRadian + lon0);
        xy[2 * i + 1] = latitude(northing);
      }
    },
  };
}

/**
 * EPSG method 9806, Cassini-Soldner (guidance note 7-2, 3.2.4), within `reach` radians of longitude from the central
 * meridian: the series is for a strip along it, and far off both it and its inverse give nonsense.
 */
export function cassini(
  ellipsoid: Ellipsoid,
  { lat0, lon0, x0, y0 }: Pick<Conic, "lat0" | "lon0" | "x0" | "y0">,
  reach: number,
): Kernel {
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridian(ellipsoid);
  const origin = distance(lat0);
  const at = { x: 0, y: 0 };
  const project = (lat: number, lam: number) => {
    const [sin, cos, tan] = [Math.sin(lat), Math.cos(lat), Math.tan(lat)];
    const nu = ellipsoid.a / Math.sqrt(1 - e2 * sin * sin);
    const a = lam * cos;
    const a2 = a * a;
    const t = tan * tan;
    const c = (e2 * cos * cos) / (1 - e2);
    at.x = nu * a * (1 - a2 * t * (1 / 6 + ((8 - t + 8 * c) * a2) / 120));
    at.y = distance(lat) - origin + nu * tan * a2 * (1 / 2 + ((5 - t + 6 * c) * a2) / 24);
  };
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        const lam = wrap(xy[2 * i]! - lon0);
        if (!(Math.abs(lat) < halfPi && Math.abs(lam) <= reach)) {
          outside(xy, i);
          continue;
        }
        project(lat, lam);
        xy[2 * i] = at.x + x0;
        xy[2 * i + 1] = at.y + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const x = xy[2 * i]! - x0;
        const y = xy[2 * i + 1]! - y0;
        let lat = latitude(origin + y);
        let lam = 0;
        // The guidance note's inverse series is centimetres off at the edges; so the forward one is solved (as in PROJ).
        for (let step = 0; step < 12; step++) {
          project(lat, lam);
          const sin = Math.sin(lat);
          const w = 1 - e2 * sin * sin;
          const nu = ellipsoid.a / Math.sqrt(w);
          const east = (x - at.x) / (nu * Math.cos(lat));
          const north = ((y - at.y) * w) / (nu * (1 - e2));
          lam += east;
          lat += north;
          if (Math.abs(east) + Math.abs(north) < 1e-14) break;
        }
        if (!(Math.abs(lat) < halfPi && Math.abs(lam) <= reach)) {
          outside(xy, i);
          continue;
        }
        xy[2 * i] = wrap(lam + lon0);
        xy[2 * i + 1] = lat;
      }
    },
  };
}
