/**
 * Auxiliary latitudes of an ellipsoid (Snyder 1987, section 3; Karney 2011 and 2023: series in the third flattening to
 * its sixth power, which leave less than a micrometre on any ellipsoid of the earth). Angles in radians, lengths in
 * units of the semi-major axis.
 */
import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, flattening, halfPi, tanLatitude } from "./kernels.js";

type SixTerms = readonly [number, number, number, number, number, number];

/** at + Σ c_j sin 2j·at, by Clenshaw's sum. */
function clenshawSum(c: SixTerms, at: number): number {
  const twice = 2 * Math.cos(2 * at);
  let b1 = 0;
  let b2 = 0;
  for (let j = 5; j >= 0; j--) {
    const b = c[j]! + twice * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return at + b1 * Math.sin(2 * at);
}

const powers = (n: number): SixTerms => [n, n ** 2, n ** 3, n ** 4, n ** 5, n ** 6];

export interface MeridianArc {
  /** The distance from the equator. */
  distance(latitude: number): number;
  latitude(distance: number): number;
  /** From the equator to the pole. */
  readonly quarter: number;
}

/** Along the meridian (Karney 2011, section 5). */
export function meridianArc(ellipsoid: Ellipsoid): MeridianArc {
  const f = flattening(ellipsoid);
  const [n, n2, n3, n4, n5, n6] = powers(f / (2 - f));
  const radius = (1 + n2 / 4 + n4 / 64 + n6 / 256) / (1 + n);
  const to: SixTerms = [
    (-3 / 2) * n + (9 / 16) * n3 - (3 / 32) * n5,
    (15 / 16) * n2 - (15 / 32) * n4 + (135 / 2048) * n6,
    (-35 / 48) * n3 + (105 / 256) * n5,
    (315 / 512) * n4 - (189 / 512) * n6,
    (-693 / 1280) * n5,
    (1001 / 2048) * n6,
  ];
  const from: SixTerms = [
    (3 / 2) * n - (27 / 32) * n3 + (269 / 512) * n5,
    (21 / 16) * n2 - (55 / 32) * n4 + (6759 / 4096) * n6,
    (151 / 96) * n3 - (417 / 128) * n5,
    (1097 / 512) * n4 - (15543 / 2560) * n6,
    (8011 / 2560) * n5,
    (293393 / 61440) * n6,
  ];
  return {
    distance: (latitude) => radius * clenshawSum(to, latitude),
    latitude: (distance) => clenshawSum(from, distance / radius),
    quarter: (radius * Math.PI) / 2,
  };
}

export interface AuthalicLatitude {
  /** q of Snyder 3-12: twice the area of the zone between the equator and the latitude, per radian. */
  q(sinLatitude: number): number;
  /** Of the pole. */
  readonly qAtPole: number;
  /** The latitude of a q; NaN beyond the poles. */
  latitude(q: number): number;
  /** Difference of the q of a latitude to that of the north pole, computed without cancellation near the pole. */
  qToPole(latitude: number): number;
  /** The latitude of such a difference; NaN beyond the south pole. */
  latitudeOfQToPole(rest: number): number;
}

/** Latitudes of the sphere of equal area. */
export function authalicLatitude(ellipsoid: Ellipsoid): AuthalicLatitude {
  const e2 = eccentricitySquared(ellipsoid);
  const e = Math.sqrt(e2);
  const f = flattening(ellipsoid);
  const [n, n2, n3, n4, n5, n6] = powers(f / (2 - f));
  const from: SixTerms = [
    (4 / 3) * n +
      (4 / 45) * n2 -
      (16 / 35) * n3 -
      (2582 / 14175) * n4 +
      (60136 / 467775) * n5 +
      (28112932 / 212837625) * n6,
    (46 / 45) * n2 + (152 / 945) * n3 - (11966 / 14175) * n4 - (21016 / 51975) * n5 + (251310128 / 638512875) * n6,
    (3044 / 2835) * n3 + (3802 / 14175) * n4 - (94388 / 66825) * n5 - (8797648 / 10945935) * n6,
    (6059 / 4725) * n4 + (41072 / 93555) * n5 - (1472637812 / 638512875) * n6,
    (768272 / 467775) * n5 + (455935736 / 638512875) * n6,
    (4210684958 / 1915538625) * n6,
  ];
  const q = (s: number) => (e === 0 ? 2 * s : (1 - e2) * (s / (1 - e2 * s * s) + Math.atanh(e * s) / e));
  const qAtPole = q(1);
  return {
    q,
    qAtPole,
    latitude(value) {
      const sine = value / qAtPole;
      if (!(Math.abs(sine) <= 1 + 1e-9)) return Number.NaN;
      return clenshawSum(from, Math.asin(Math.max(-1, Math.min(1, sine))));
    },
    qToPole(at) {
      const s = Math.sin(at);
      const t = 2 * Math.sin((halfPi - at) / 2) ** 2;
      if (e === 0) return 2 * t;
      return (t * (1 + e2 * s)) / (1 - e2 * s * s) + ((1 - e2) / e) * Math.atanh((e * t) / (1 - e2 * s));
    },
    latitudeOfQToPole(value) {
      const half = Math.sqrt(value / (2 * qAtPole));
      if (!(half <= 1 + 1e-9)) return Number.NaN;
      return clenshawSum(from, halfPi - 2 * Math.asin(Math.min(1, half)));
    },
  };
}

/** The latitude of a conformal latitude (Karney 2023, table A): as `tanLatitude`, without its repetition. */
export function inverseConformalLatitude(ellipsoid: Ellipsoid): (chi: number) => number {
  const f = flattening(ellipsoid);
  const [n, n2, n3, n4, n5, n6] = powers(f / (2 - f));
  const from: SixTerms = [
    2 * n - (2 / 3) * n2 - 2 * n3 + (116 / 45) * n4 + (26 / 45) * n5 - (2854 / 675) * n6,
    (7 / 3) * n2 - (8 / 5) * n3 - (227 / 45) * n4 + (2704 / 315) * n5 + (2323 / 945) * n6,
    (56 / 15) * n3 - (136 / 35) * n4 - (1262 / 105) * n5 + (73814 / 2835) * n6,
    (4279 / 630) * n4 - (332 / 35) * n5 - (399572 / 14175) * n6,
    (4174 / 315) * n5 - (144838 / 6237) * n6,
    (601676 / 22275) * n6,
  ];
  return (chi) => clenshawSum(from, chi);
}

/** The radius of the parallel, in units of the semi-major axis (Snyder 14-15). */
export const parallelRadius = (e2: number, latitude: number): number =>
  Math.cos(latitude) / Math.sqrt(1 - e2 * Math.sin(latitude) ** 2);

/** The radius of curvature across the meridian (Snyder 4-20), and along it (4-19). */
export const primeVerticalRadius = (e2: number, sinLatitude: number): number =>
  1 / Math.sqrt(1 - e2 * sinLatitude * sinLatitude);
export const meridionalRadius = (e2: number, sinLatitude: number): number =>
  (1 - e2) / (1 - e2 * sinLatitude * sinLatitude) ** 1.5;

/** The latitude of Mercator's map, whose pole is at infinity (Snyder 7-7), and back. */
export const isometricLatitude = (latitude: number, e: number): number =>
  Math.asinh(Math.tan(latitude)) - e * Math.atanh(e * Math.sin(latitude));
export const inverseIsometricLatitude = (psi: number, e: number): number => Math.atan(tanLatitude(Math.sinh(psi), e));
