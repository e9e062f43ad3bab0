import type { Ellipsoid } from "../definitions/definition.js";

/** A prepared Helmert transformation: rotations in radians (position vector convention), scale as a factor. */
export interface Helmert {
  readonly translation: readonly [number, number, number];
  readonly rotation: readonly [number, number, number];
  readonly scale: number;
  /** The pivot point (Molodensky-Badekas), in metres. */
  readonly pivot: readonly [number, number, number];
  /** Whether it is applied from target to source. */
  readonly inverse: boolean;
  readonly source: Ellipsoid;
  readonly target: Ellipsoid;
}

const arcSecond = Math.PI / 648000;

/** Prepares the values of the table: metres, arc-seconds, ppm, pivot. `source` and `target` are those of this use. */
export function createHelmert(
  values: readonly number[],
  inverse: boolean,
  source: Ellipsoid,
  target: Ellipsoid,
): Helmert {
  const at = (index: number) => values[index] ?? 0;
  return {
    translation: [at(0), at(1), at(2)],
    rotation: [at(3) * arcSecond, at(4) * arcSecond, at(5) * arcSecond],
    scale: 1 + at(6) * 1e-6,
    pivot: [at(7), at(8), at(9)],
    inverse,
    source,
    target,
  };
}

/**
 * Applies transformations to positions `from`…`to` (radians; heights in metres, 0 if absent) one after the other, in place,
 * in geocentric coordinates, so that height changes of one step affect the next. The heights themselves are not changed,
 * since the operations are two-dimensional. Rotations are linearized as in EPSG (guidance note 7-2, 2.4.3.2) and PROJ. One
 * long loop, since it runs for every position.
 */
export function applyHelmert(
  steps: readonly Helmert[],
  xy: Float64Array,
  z: Float64Array | null,
  from: number,
  to: number,
): void {
  const { source } = steps[0]!;
  const { target } = steps.at(-1)!;
  const fs = source.inverseFlattening === 0 ? 0 : 1 / source.inverseFlattening;
  const ft = target.inverseFlattening === 0 ? 0 : 1 / target.inverseFlattening;
  const a = source.a;
  const es = fs * (2 - fs);
  const ta = target.a;
  const tb = ta * (1 - ft);
  const tes = ft * (2 - ft);
  const tep = tes / (1 - tes);
  for (let i = from; i < to; i++) {
    const lon = xy[2 * i]!;
    const lat = xy[2 * i + 1]!;
    if (!(Math.abs(lat) <= Math.PI / 2 + 1e-12)) {
      xy[2 * i] = Number.NaN;
      xy[2 * i + 1] = Number.NaN;
      continue;
    }
    const height = z === null || Number.isNaN(z[i]!) ? 0 : z[i]!;
    const sinLat = Math.sin(lat);
    const cosLat = Math.cos(lat);
    const n = a / Math.sqrt(1 - es * sinLat * sinLat);
    let x = (n + height) * cosLat * Math.cos(lon);
    let y = (n + height) * cosLat * Math.sin(lon);
    let w = (n * (1 - es) + height) * sinLat;
    for (let k = 0; k < steps.length; k++) {
      const { translation, rotation, pivot, scale, inverse } = steps[k]!;
      const rx = rotation[0];
      const ry = rotation[1];
      const rz = rotation[2];
      if (inverse) {
        const u = (x - pivot[0] - translation[0]) / scale;
        const v = (y - pivot[1] - translation[1]) / scale;
        const q = (w - pivot[2] - translation[2]) / scale;
        x = pivot[0] + u + rz * v - ry * q;
        y = pivot[1] - rz * u + v + rx * q;
        w = pivot[2] + ry * u - rx * v + q;
      } else {
        const u = x - pivot[0];
        const v = y - pivot[1];
        const q = w - pivot[2];
        x = pivot[0] + scale * (u - rz * v + ry * q) + translation[0];
        y = pivot[1] + scale * (rz * u + v - rx * q) + translation[1];
        w = pivot[2] + scale * (-ry * u + rx * v + q) + translation[2];
      }
    }
    const p = Math.sqrt(x * x + y * y);
    // Bowring's formula; its error near the ground is far below a micrometre.
    const theta = Math.atan2(w * ta, p * tb);
    const sinTheta = Math.sin(theta);
    const cosTheta = Math.cos(theta);
    const longitude = Math.atan2(y, x);
    // Longitudes beyond ±180° stay on their side, so that a ring does not jump across the antimeridian.
    xy[2 * i] =
      Math.abs(lon) > Math.PI ? longitude + 2 * Math.PI * Math.round((lon - longitude) / (2 * Math.PI)) : longitude;
    xy[2 * i + 1] = Math.atan2(w + tep * tb * sinTheta ** 3, p - tes * ta * cosTheta ** 3);
  }
}
