/**
 * Distances on the WGS 84 ellipsoid in metres, by T. Vincenty, "Direct and Inverse Solutions of Geodesics on the
 * Ellipsoid with application of nested equations", Survey Review XXIII (1975) no. 176: accurate to half a millimetre.
 */
const semiMajor = 6_378_137;
const flattening = 1 / 298.257223563;
const semiMinor = semiMajor * (1 - flattening);
const radians = Math.PI / 180;
const maxIterations = 200;

/**
 * Distance between two positions in degrees. Between nearly opposite points of the Earth, where the method does not
 * converge, the distance on a sphere: accurate to 0.6 %.
 */
export function geodesicDistance(lon1: number, lat1: number, lon2: number, lat2: number): number {
  const [u1, u2] = [lat1, lat2].map((lat) => Math.atan((1 - flattening) * Math.tan(lat * radians))) as [number, number];
  const [sinU1, cosU1, sinU2, cosU2] = [Math.sin(u1), Math.cos(u1), Math.sin(u2), Math.cos(u2)];
  const longitude = wrap(lon2 - lon1) * radians;
  let lambda = longitude;
  for (let i = 0; i < maxIterations; i++) {
    const [sinLambda, cosLambda] = [Math.sin(lambda), Math.cos(lambda)];
    const sinSigma = Math.hypot(cosU2 * sinLambda, cosU1 * sinU2 - sinU1 * cosU2 * cosLambda);
    if (sinSigma === 0) return 0;
    const cosSigma = sinU1 * sinU2 + cosU1 * cosU2 * cosLambda;
    const sigma = Math.atan2(sinSigma, cosSigma);
    const sinAlpha = (cosU1 * cosU2 * sinLambda) / sinSigma;
    const cosSqAlpha = 1 - sinAlpha ** 2;
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
    if (Math.abs(lambda) > Math.PI) break;
    if (Math.abs(lambda - previous) > 1e-12) continue;
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
  return sphericalDistance(longitude, lat1 * radians, lat2 * radians);
}

const meanRadius = (2 * semiMajor + semiMinor) / 3;

function sphericalDistance(longitude: number, lat1: number, lat2: number): number {
  const h = Math.sin((lat2 - lat1) / 2) ** 2 + Math.cos(lat1) * Math.cos(lat2) * Math.sin(longitude / 2) ** 2;
  return 2 * meanRadius * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The shorter way around the Earth, in degrees. */
const wrap = (degrees: number): number => degrees - 360 * Math.round(degrees / 360);
