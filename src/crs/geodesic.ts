/**
 * Distances and areas on the WGS 84 ellipsoid, in metres and square metres. The inverse problem is solved as by
 * T. Vincenty, "Direct and Inverse Solutions of Geodesics on the Ellipsoid with application of nested equations", Survey
 * Review XXIII (1975) no. 176: accurate to half a millimetre. Short geodesics are measured in a simpler way.
 */
import { areaBelowParallel, hasShortArea, isShort, shortArea, shortDistance } from "./short-geodesic.js";
import { eccentricitySquared, flattening, radians, semiMajor, semiMinor } from "./wgs84-ellipsoid.js";

const maxIterations = 200;

/** A geodesic between two positions on the auxiliary sphere; reused, so that none is allocated for each line. */
interface Geodesic {
  sinU1: number;
  cosU1: number;
  sinU2: number;
  cosU2: number;
  /** Difference of longitudes on the auxiliary sphere, in radians. */
  lambda: number;
  sigma: number;
  sinSigma: number;
  cosSigma: number;
  /** Of the azimuth at the equator. */
  sinAlpha: number;
  cosSqAlpha: number;
  cos2SigmaM: number;
}

const solved: Geodesic = {
  sinU1: 0,
  cosU1: 0,
  sinU2: 0,
  cosU2: 0,
  lambda: 0,
  sigma: 0,
  sinSigma: 0,
  cosSigma: 0,
  sinAlpha: 0,
  cosSqAlpha: 0,
  cos2SigmaM: 0,
};

/**
 * Solves for the geodesic between two positions in degrees, into `solved`. False between nearly opposite points of the
 * Earth, where the method does not converge.
 */
function solveInverse(lon1: number, lat1: number, lon2: number, lat2: number): boolean {
  const u1 = Math.atan((1 - flattening) * Math.tan(lat1 * radians));
  const u2 = Math.atan((1 - flattening) * Math.tan(lat2 * radians));
  const sinU1 = Math.sin(u1);
  const cosU1 = Math.cos(u1);
  const sinU2 = Math.sin(u2);
  const cosU2 = Math.cos(u2);
  const longitude = wrap(lon2 - lon1) * radians;
  let lambda = longitude;
  for (let i = 0; i < maxIterations; i++) {
    const sinLambda = Math.sin(lambda);
    const cosLambda = Math.cos(lambda);
    const across = cosU2 * sinLambda;
    const along = cosU1 * sinU2 - sinU1 * cosU2 * cosLambda;
    const sinSigma = Math.sqrt(across * across + along * along);
    const cosSigma = sinU1 * sinU2 + cosU1 * cosU2 * cosLambda;
    const sigma = Math.atan2(sinSigma, cosSigma);
    const sinAlpha = sinSigma === 0 ? 0 : (cosU1 * cosU2 * sinLambda) / sinSigma;
    const cosSqAlpha = 1 - sinAlpha * sinAlpha;
    // On the equator, cosSqAlpha is zero.
    const cos2SigmaM = cosSqAlpha < 1e-15 ? 0 : cosSigma - (2 * sinU1 * sinU2) / cosSqAlpha;
    const c = (flattening / 16) * cosSqAlpha * (4 + flattening * (4 - 3 * cosSqAlpha));
    const previous = lambda;
    lambda =
      longitude +
      (1 - c) *
        flattening *
        sinAlpha *
        (sigma + c * sinSigma * (cos2SigmaM + c * cosSigma * (-1 + 2 * cos2SigmaM ** 2)));
    if (Math.abs(lambda) > Math.PI) return false;
    // Relative, since the area below a short line needs it; never finer than the numbers are.
    if (Math.abs(lambda - previous) > Math.min(1e-12, 1e-14 * Math.abs(lambda)) && i < 12) continue;
    if (Math.abs(lambda - previous) > 1e-12) continue;
    solved.sinU1 = sinU1;
    solved.cosU1 = cosU1;
    solved.sinU2 = sinU2;
    solved.cosU2 = cosU2;
    solved.lambda = lambda;
    solved.sigma = sigma;
    solved.sinSigma = sinSigma;
    solved.cosSigma = cosSigma;
    solved.sinAlpha = sinAlpha;
    solved.cosSqAlpha = cosSqAlpha;
    solved.cos2SigmaM = cos2SigmaM;
    return true;
  }
  return false;
}

/** Distance between two positions in degrees. */
export function geodesicDistance(lon1: number, lat1: number, lon2: number, lat2: number): number {
  if (isShort(lon1, lat1, lon2, lat2)) return shortDistance(lon1, lat1, lon2, lat2);
  if (!solveInverse(lon1, lat1, lon2, lat2)) return oppositeDistance(lon1, lat1, lon2, lat2);
  const { sigma, sinSigma, cosSigma, cosSqAlpha, cos2SigmaM } = solved;
  const uSq = (cosSqAlpha * (semiMajor ** 2 - semiMinor ** 2)) / semiMinor ** 2;
  const a = 1 + (uSq / 16_384) * (4096 + uSq * (-768 + uSq * (320 - 175 * uSq)));
  const b = (uSq / 1024) * (256 + uSq * (-128 + uSq * (74 - 47 * uSq)));
  const deltaSigma =
    b *
    sinSigma *
    (cos2SigmaM +
      (b / 4) *
        (cosSigma * (-1 + 2 * cos2SigmaM ** 2) -
          (b / 6) * cos2SigmaM * (-3 + 4 * sinSigma ** 2) * (-3 + 4 * cos2SigmaM ** 2)));
  return semiMinor * a * (sigma - deltaSigma);
}

/** Directions that are tried first between nearly opposite points. */
const triedDirections = 24;
const goldenSection = (Math.sqrt(5) - 1) / 2;

/**
 * Distance between nearly opposite points of the Earth, where the method does not converge: that of the shortest way
 * through a point halfway. The points halfway are a quarter of the circumference from the first, by direction.
 */
function oppositeDistance(lon1: number, lat1: number, lon2: number, lat2: number): number {
  const u1 = Math.atan((1 - flattening) * Math.tan(lat1 * radians));
  const distanceThrough = (direction: number): number => {
    const u = Math.asin(Math.cos(u1) * Math.cos(direction));
    const east = Math.atan2(Math.sin(direction), -Math.sin(u1) * Math.cos(direction));
    const [lon, lat] = [lon1 + east / radians, Math.atan(Math.tan(u) / (1 - flattening)) / radians];
    return geodesicDistance(lon1, lat1, lon, lat) + geodesicDistance(lon, lat, lon2, lat2);
  };
  const step = (2 * Math.PI) / triedDirections;
  let shortest = Number.POSITIVE_INFINITY;
  let best = 0;
  for (let k = 0; k < triedDirections; k++) {
    const distance = distanceThrough(k * step);
    if (distance < shortest) [shortest, best] = [distance, k * step];
  }
  let [from, to] = [best - step, best + step];
  while (to - from > 1e-7) {
    const width = goldenSection * (to - from);
    if (distanceThrough(to - width) < distanceThrough(from + width)) to = from + width;
    else from = to - width;
  }
  return Math.min(shortest, distanceThrough((from + to) / 2));
}

/** The shorter way around the Earth, in degrees. */
const wrap = (degrees: number): number => degrees - 360 * Math.round(degrees / 360);

const secondEccentricitySquared = eccentricitySquared / (1 - eccentricitySquared);
const eccentricity = Math.sqrt(eccentricitySquared);
/** The square of the radius of the sphere of equal area (Karney 2013, eq. 60). */
const authalicSquared = semiMajor ** 2 / 2 + ((semiMinor ** 2 / 2) * Math.atanh(eccentricity)) / eccentricity;

const thirdFlattening = flattening / (2 - flattening);
/** The polynomial of the third flattening with these coefficients, from the constant on, over a common denominator. */
const inFlattening = (denominator: number, ...coefficients: readonly number[]): number =>
  coefficients.reduceRight((sum, coefficient) => sum * thirdFlattening + coefficient, 0) / denominator;

/** Karney 2013, eq. 63: for each term of the series, its coefficients of powers of ε. */
const areaSeries: readonly (readonly number[])[] = [
  [
    inFlattening(45_045, 30_030, -12_012, 3432, 572, 208, 100),
    inFlattening(15_015, -3003, 6864, -4576, 624, 64),
    inFlattening(45_045, -858, -4576, 14_144, -10_656),
    inFlattening(45_045, 1573, -4784, -224),
    inFlattening(45_045, 156, 1088),
    inFlattening(15_015, 97),
  ],
  [
    0,
    inFlattening(135_135, 3003, -6864, 4576, -624, -64),
    inFlattening(135_135, -2574, 9152, -11_648, 5952),
    inFlattening(135_135, -1287, 1040, 5792),
    inFlattening(135_135, 468, -2944),
    inFlattening(9009, 1),
  ],
  [
    0,
    0,
    inFlattening(225_225, 1716, -4576, 4160, -1440),
    inFlattening(225_225, -1144, 4992, -8448),
    inFlattening(225_225, -936, 1856),
    inFlattening(10_725, 8),
  ],
  [0, 0, 0, inFlattening(315_315, 1144, -3328, 3584), inFlattening(105_105, -208, 1024), inFlattening(63_063, -136)],
  [0, 0, 0, 0, inFlattening(405_405, 832, -2560), inFlattening(135_135, -128)],
  [0, 0, 0, 0, 0, inFlattening(99_099, 128)],
];

/**
 * The area between the geodesic and the equator, positive north of it for a line to the east: C. F. F. Karney, "Algorithms
 * for geodesics", J. Geodesy 87 (2013), section 6, eqs. 58–65.
 */
function areaBelow(lon1: number, lat1: number, lon2: number, lat2: number): number {
  if (lon1 === lon2) return 0;
  if (!solveInverse(lon1, lat1, lon2, lat2)) return Number.NaN;
  const { sinU1, cosU1, sinU2, cosU2, lambda, sigma, sinSigma, sinAlpha, cosSqAlpha } = solved;
  const excess =
    2 *
    Math.atan2(
      Math.sin(lambda) * (sinU1 * (1 + cosU2) + sinU2 * (1 + cosU1)),
      (1 + Math.cos(lambda)) * (sinU1 * sinU2 + (1 + cosU1) * (1 + cosU2)),
    );
  const cosAlpha = Math.sqrt(Math.max(0, cosSqAlpha));
  if (sinSigma === 0 || cosAlpha < 1e-12) return authalicSquared * excess;
  const cosLambda = Math.cos(lambda);
  const cosAzimuth1 = (cosU1 * sinU2 - sinU1 * cosU2 * cosLambda) / sinSigma;
  const sigma1 = Math.atan2(sinU1, cosAzimuth1 * cosU1);
  const kSquared = secondEccentricitySquared * cosSqAlpha;
  const epsilon = kSquared / (2 * (1 + Math.sqrt(1 + kSquared)) + kSquared);
  const half = sigma / 2;
  const middle = sigma1 + half;
  let series = 0;
  for (let l = 0; l < areaSeries.length; l++) {
    const terms = areaSeries[l]!;
    let coefficient = 0;
    for (let j = terms.length - 1; j >= 0; j--) coefficient = coefficient * epsilon + terms[j]!;
    // The difference of two cosines, without cancellation for short lines.
    series -= 2 * coefficient * Math.sin((2 * l + 1) * middle) * Math.sin((2 * l + 1) * half);
  }
  return authalicSquared * excess + eccentricitySquared * semiMajor ** 2 * cosAlpha * sinAlpha * series;
}

/**
 * Area inside the ring of the positions `from … to` (longitude and latitude in degrees, interleaved), whose sides are
 * geodesics: never negative, and the smaller of the two areas that it divides the Earth into. NaN if a side connects nearly
 * opposite points of the Earth.
 */
export function geodesicRingArea(xy: Float64Array, from: number, to: number): number {
  // Areas are measured from the parallel of the first position: from the equator, they would be far greater than that of a
  // small ring, and lose its digits.
  const reference = to > from ? areaBelowParallel(xy[2 * from + 1]!) : 0;
  let area = 0;
  let turn = 0;
  for (let k = from; k < to - 1; k++) {
    const x = xy[2 * k]!;
    const y = xy[2 * k + 1]!;
    const nextX = xy[2 * k + 2]!;
    const nextY = xy[2 * k + 3]!;
    const width = wrap(nextX - x);
    turn += width;
    area += hasShortArea(x, y, nextX, nextY)
      ? shortArea(x, y, nextX, nextY, reference)
      : areaBelow(x, y, nextX, nextY) - reference * width * radians;
  }
  const isAroundPole = Math.abs(turn) > 180;
  if (isAroundPole) area += reference * turn * radians;
  // A ring around a pole: the rest of the hemisphere.
  const half = 2 * Math.PI * authalicSquared;
  const inside = isAroundPole ? half - Math.abs(area) : Math.abs(area);
  return Math.min(Math.abs(inside), Math.abs(2 * half - inside));
}
