/**
 * World maps of the sphere, by Snyder's Album of Map Projections (1989, USGS 1453) and Flattening the Earth (1993), and
 * the papers named. Their sphere has the semi-major axis for radius, as PROJ and ESRI have it, but where it is said.
 */
import type { Ellipsoid } from "../definitions/definition.js";
import { eccentricitySquared, halfPi } from "./kernels.js";
import { authalicLatitude, meridianArc, parallelRadius } from "./latitudes.js";
import { clampedAsin, createSolver, findRoot, type Mapping, setNoImage } from "./mapping.js";

/** A map with straight parallels, defined by the length of a radian of longitude and the height of each parallel. */
interface PseudocylindricalMap {
  /** The parametric angle of a latitude; by default the latitude itself. */
  readonly angle?: (latitude: number) => number;
  readonly latitude?: (angle: number) => number;
  readonly parallelLength: (angle: number) => number;
  readonly parallelHeight: (angle: number) => number;
  /** The angle of a height. */
  readonly angleAtHeight: (height: number) => number;
}

const identity = (value: number) => value;

function pseudocylindrical({
  angle = identity,
  latitude = identity,
  parallelLength,
  parallelHeight,
  angleAtHeight,
}: PseudocylindricalMap): Mapping {
  return {
    forward(lam, phi, out) {
      const t = angle(phi);
      out[0] = lam * parallelLength(t);
      out[1] = parallelHeight(t);
    },
    inverse(x, y, out) {
      const t = angleAtHeight(y);
      out[1] = latitude(t);
      const width = parallelLength(t);
      out[0] = Math.abs(width) > 1e-12 ? x / width : Math.abs(x) < 1e-9 ? 0 : Number.NaN;
    },
  };
}

/** A height that is an odd polynomial of the latitude, and its inverse. `powers` are those of the latitude. */
function oddPolynomial(terms: readonly (readonly [power: number, coefficient: number])[]) {
  const parallelHeight = (t: number) => terms.reduce((sum, [power, coefficient]) => sum + coefficient * t ** power, 0);
  const slope = (t: number) =>
    terms.reduce((sum, [power, coefficient]) => sum + power * coefficient * t ** (power - 1), 0);
  return { parallelHeight, angleAtHeight: (y: number) => findRoot(y / slope(0), (t) => parallelHeight(t) - y, slope) };
}
const evenPolynomial = (terms: readonly (readonly [power: number, coefficient: number])[]) => (t: number) =>
  terms.reduce((sum, [power, coefficient]) => sum + coefficient * t ** power, 0);

/** Mollweide, and Wagner's maps of the kind: 2θ + sin 2θ = c sin φ. */
function mollweideLike(width: number, height: number, c: number): Mapping {
  return pseudocylindrical({
    angle(phi) {
      const k = c * Math.sin(phi);
      // At the poles of Mollweide the slope is 0, and Newton's method halves the error only.
      if (Math.abs(Math.abs(k) - Math.PI) < 1e-15) return Math.sign(k) * halfPi;
      let twice = phi * 0.95;
      for (let step = 0; step < 100; step++) {
        const change = (twice + Math.sin(twice) - k) / (1 + Math.cos(twice));
        twice -= change;
        if (Math.abs(change) < 1e-14) break;
      }
      return twice / 2;
    },
    latitude: (t) => clampedAsin((2 * t + Math.sin(2 * t)) / c),
    parallelLength: (t) => width * Math.cos(t),
    parallelHeight: (t) => height * Math.sin(t),
    angleAtHeight: (y) => clampedAsin(y / height),
  });
}

const wagner4Radius = Math.sqrt(
  (2 * Math.PI * Math.sin(Math.PI / 3)) / ((2 * Math.PI) / 3 + Math.sin((2 * Math.PI) / 3)),
);
const eckertScale = Math.sqrt(2 + Math.PI);
const eckert3Scale = Math.sqrt(Math.PI * (4 + Math.PI));
const quarticScale = Math.sqrt(2 + Math.SQRT2);

const naturalEarth = oddPolynomial([
  [1, 1.007226],
  [3, 0.015085],
  [7, -0.044475],
  [9, 0.028874],
  [11, -0.005916],
]);
const naturalEarth2 = oddPolynomial([
  [1, 1.01183],
  [9, -0.02625],
  [11, 0.01926],
  [13, -0.00396],
]);
const patterson = oddPolynomial([
  [1, 1.0148],
  [5, 0.23185],
  [7, -0.14499],
  [9, 0.02406],
]);
const compactMiller = oddPolynomial([
  [1, 0.9902],
  [3, 0.1604],
  [5, -0.03054],
]);

export const mollweide = () => mollweideLike((2 * Math.SQRT2) / Math.PI, Math.SQRT2, Math.PI);
export const sinusoidalSphere = () =>
  pseudocylindrical({ parallelLength: Math.cos, parallelHeight: identity, angleAtHeight: identity });

/** Maps without parameters. */
export const parameterlessMaps = {
  mollweide,
  "wagner-4": () =>
    mollweideLike(
      (2 * wagner4Radius) / Math.PI,
      wagner4Radius / Math.sin(Math.PI / 3),
      (2 * Math.PI) / 3 + Math.sin((2 * Math.PI) / 3),
    ),
  "wagner-5": () => mollweideLike(0.90977, 1.65014, 3.00896),
  "eckert-1": () => {
    const c = 2 * Math.sqrt(2 / (3 * Math.PI));
    return pseudocylindrical({
      parallelLength: (t) => c * (1 - Math.abs(t) / Math.PI),
      parallelHeight: (t) => c * t,
      angleAtHeight: (y) => y / c,
    });
  },
  "eckert-2": () => {
    const c = Math.sqrt((2 * Math.PI) / 3);
    const side = (t: number) => Math.sqrt(4 - 3 * Math.sin(Math.abs(t)));
    return pseudocylindrical({
      parallelLength: (t) => (2 / Math.sqrt(6 * Math.PI)) * side(t),
      parallelHeight: (t) => c * (2 - side(t)) * Math.sign(t),
      angleAtHeight: (y) => Math.sign(y) * clampedAsin((4 - (2 - Math.abs(y) / c) ** 2) / 3),
    });
  },
  "eckert-3": () =>
    pseudocylindrical({
      parallelLength: (t) => (2 / eckert3Scale) * (1 + Math.sqrt(Math.max(0, 1 - (t / halfPi) ** 2))),
      parallelHeight: (t) => (4 / eckert3Scale) * t,
      angleAtHeight: (y) => (y * eckert3Scale) / 4,
    }),
  "eckert-4": () => {
    const area = (t: number) => t + Math.sin(t) * (Math.cos(t) + 2);
    const height = 2 * Math.sqrt(Math.PI / (4 + Math.PI));
    return pseudocylindrical({
      angle(phi) {
        const p = (2 + halfPi) * Math.sin(phi);
        if (Math.abs(phi) > halfPi - 1e-12) return Math.sign(phi) * halfPi;
        const start = phi * (0.895168 + phi * phi * (0.0218849 + phi * phi * 0.00826809));
        return findRoot(
          start,
          (t) => area(t) - p,
          (t) => 1 + Math.cos(t) * (Math.cos(t) + 2) - Math.sin(t) ** 2,
        );
      },
      latitude: (t) => clampedAsin(area(t) / (2 + halfPi)),
      parallelLength: (t) => (2 / eckert3Scale) * (1 + Math.cos(t)),
      parallelHeight: (t) => height * Math.sin(t),
      angleAtHeight: (y) => clampedAsin(y / height),
    });
  },
  "eckert-5": () =>
    pseudocylindrical({
      parallelLength: (t) => (1 + Math.cos(t)) / eckertScale,
      parallelHeight: (t) => (2 * t) / eckertScale,
      angleAtHeight: (y) => (y * eckertScale) / 2,
    }),
  "eckert-6": () =>
    pseudocylindrical({
      angle: (phi) =>
        findRoot(
          phi,
          (t) => t + Math.sin(t) - (1 + halfPi) * Math.sin(phi),
          (t) => 1 + Math.cos(t),
        ),
      latitude: (t) => clampedAsin((t + Math.sin(t)) / (1 + halfPi)),
      parallelLength: (t) => (1 + Math.cos(t)) / eckertScale,
      parallelHeight: (t) => (2 * t) / eckertScale,
      angleAtHeight: (y) => (y * eckertScale) / 2,
    }),
  "gall-stereographic": () =>
    pseudocylindrical({
      parallelLength: () => Math.SQRT1_2,
      parallelHeight: (t) => (1 + Math.SQRT1_2) * Math.tan(t / 2),
      angleAtHeight: (y) => 2 * Math.atan(y / (1 + Math.SQRT1_2)),
    }),
  "quartic-authalic": () =>
    pseudocylindrical({
      parallelLength: (t) => Math.cos(t) / Math.cos(t / 2),
      parallelHeight: (t) => 2 * Math.sin(t / 2),
      angleAtHeight: (y) => 2 * clampedAsin(y / 2),
    }),
  "flat-polar-quartic": () => {
    const c = 1 + Math.SQRT1_2;
    const sum = (t: number) => Math.sin(t / 2) + Math.sin(t);
    return pseudocylindrical({
      angle: (phi) =>
        findRoot(
          phi,
          (t) => sum(t) - c * Math.sin(phi),
          (t) => Math.cos(t / 2) / 2 + Math.cos(t),
        ),
      latitude: (t) => clampedAsin(sum(t) / c),
      parallelLength: (t) => (1 + (2 * Math.cos(t)) / Math.cos(t / 2)) / (Math.sqrt(3) * quarticScale),
      parallelHeight: (t) => ((2 * Math.sqrt(3)) / quarticScale) * Math.sin(t / 2),
      angleAtHeight: (y) => 2 * clampedAsin((y * quarticScale) / (2 * Math.sqrt(3))),
    });
  },
  craster: () =>
    pseudocylindrical({
      parallelLength: (t) => Math.sqrt(3 / Math.PI) * (2 * Math.cos((2 * t) / 3) - 1),
      parallelHeight: (t) => Math.sqrt(3 * Math.PI) * Math.sin(t / 3),
      angleAtHeight: (y) => 3 * clampedAsin(y / Math.sqrt(3 * Math.PI)),
    }),
  times: () =>
    pseudocylindrical({
      parallelLength: (t) => 0.74482 - 0.34588 * Math.sin((Math.PI / 4) * Math.tan(t / 2)) ** 2,
      parallelHeight: (t) => 1.70711 * Math.tan(t / 2),
      angleAtHeight: (y) => 2 * Math.atan(y / 1.70711),
    }),
  // Šavrič, Jenny, Patterson, Petrovič, Hurni 2011; Šavrič, Patterson, Jenny 2015; Patterson, Šavrič, Jenny 2015.
  "natural-earth": () =>
    pseudocylindrical({
      parallelLength: evenPolynomial([
        [0, 0.8707],
        [2, -0.131979],
        [4, -0.013791],
        [10, 0.003971],
        [12, -0.001529],
      ]),
      ...naturalEarth,
    }),
  "natural-earth-2": () =>
    pseudocylindrical({
      parallelLength: evenPolynomial([
        [0, 0.84719],
        [2, -0.13063],
        [12, -0.04515],
        [14, 0.05494],
        [16, -0.02326],
        [18, 0.00331],
      ]),
      ...naturalEarth2,
    }),
  patterson: () => pseudocylindrical({ parallelLength: () => 1, ...patterson }),
  "compact-miller": () => pseudocylindrical({ parallelLength: () => 1, ...compactMiller }),
  miller: () =>
    pseudocylindrical({
      parallelLength: () => 1,
      parallelHeight: (t) => 1.25 * Math.asinh(Math.tan(0.8 * t)),
      angleAtHeight: (y) => 1.25 * Math.atan(Math.sinh(0.8 * y)),
    }),
  aitoff: () => withNumericInverse(aitoff),
  hammer: () =>
    withNumericInverse((lam, phi, out) => {
      const divisor = Math.sqrt(1 + Math.cos(phi) * Math.cos(lam / 2));
      out[0] = (2 * Math.SQRT2 * Math.cos(phi) * Math.sin(lam / 2)) / divisor;
      out[1] = (Math.SQRT2 * Math.sin(phi)) / divisor;
    }),
  "wagner-7": () =>
    withNumericInverse((lam, phi, out) => {
      const sin = 0.90630778703665 * Math.sin(phi);
      const cos = Math.sqrt(1 - sin * sin);
      const factor = 1 / Math.sqrt((1 + cos * Math.cos(lam / 3)) / 2);
      out[0] = 2.66723 * cos * Math.sin(lam / 3) * factor;
      out[1] = 1.24104 * sin * factor;
    }),
  "van-der-grinten": vanDerGrinten,
} as const satisfies Record<string, () => Mapping>;

export type ParameterlessMap = keyof typeof parameterlessMaps;
export const isParameterlessMap = (method: string): method is ParameterlessMap =>
  Object.hasOwn(parameterlessMaps, method);

/** Winkel I and II are the mean of another map and the equidistant cylinder. */
export const winkel1 = (lat1: number): Mapping =>
  pseudocylindrical({
    parallelLength: (t) => (Math.cos(lat1) + Math.cos(t)) / 2,
    parallelHeight: identity,
    angleAtHeight: identity,
  });

export function winkel2(lat1: number): Mapping {
  const cos1 = Math.cos(lat1);
  const mean = mollweide();
  const project: Mapping["forward"] = (lam, phi, out) => {
    mean.forward(0, phi, out);
    const sin = out[1]! / Math.SQRT2;
    out[0] = (lam * (Math.sqrt(Math.max(0, 1 - sin * sin)) + cos1)) / 2;
    out[1] = (Math.PI / 4) * (sin + phi / halfPi);
  };
  const solve = createSolver(project);
  return {
    forward: project,
    inverse(x, y, out) {
      out[0] = x / (0.5 + cos1 / 2);
      out[1] = (y / halfPi) * 1.2;
      solve(x, y, out);
    },
  };
}

/** Winkel's third: the mean of Aitoff's map and the equidistant cylinder. */
export const winkelTripel = (lat1: number): Mapping =>
  withNumericInverse((lam, phi, out) => {
    aitoff(lam, phi, out);
    out[0] = (out[0]! + lam * Math.cos(lat1)) / 2;
    out[1] = (out[1]! + phi) / 2;
  });

function aitoff(lam: number, phi: number, out: Float64Array): void {
  const x = Math.cos(phi) * Math.sin(lam / 2);
  const y = Math.sin(phi);
  // The angle from the center by its tangent, which is exact near it, too.
  const side = Math.hypot(x, y);
  const angle = Math.atan2(side, Math.cos(phi) * Math.cos(lam / 2));
  const factor = side < 1e-12 ? 1 : angle / side;
  out[0] = 2 * factor * x;
  out[1] = factor * y;
}

/** A map without a closed inverse. Newton's method from the inside of the map. */
function withNumericInverse(forward: Mapping["forward"]): Mapping {
  const solve = createSolver(forward);
  return {
    forward,
    inverse(x, y, out) {
      out[1] = Math.max(-1.4, Math.min(1.4, y * 0.95));
      out[0] = Math.max(-3, Math.min(3, x / Math.max(0.3, Math.cos(out[1] * 0.8))));
      solve(x, y, out);
    },
  };
}

/** Loximuthal: rhumb lines from the center are straight and true (Snyder 1989, p. 88). */
export function loximuthal(lat1: number): Mapping {
  const mercator = (phi: number) => Math.asinh(Math.tan(phi));
  return pseudocylindrical({
    parallelLength: (t) => {
      if (Math.abs(Math.abs(t) - halfPi) < 1e-10) return 0;
      const y = t - lat1;
      return Math.abs(y) < 1e-8 ? Math.cos(lat1) : y / (mercator(t) - mercator(lat1));
    },
    parallelHeight: (t) => t - lat1,
    angleAtHeight: (y) => y + lat1,
  });
}

/** Sinusoidal, on the ellipsoid (Snyder 1987, 30-8 to 30-11). */
export function sinusoidal(ellipsoid: Ellipsoid): Mapping {
  const e2 = eccentricitySquared(ellipsoid);
  const { distance, latitude } = meridianArc(ellipsoid);
  return pseudocylindrical({
    parallelLength: (t) => parallelRadius(e2, t),
    parallelHeight: distance,
    angleAtHeight: latitude,
  });
}

/** EPSG method 1028, equidistant cylindrical, on the ellipsoid (guidance note 7-2, 3.2.5). */
export function equidistantCylinder(ellipsoid: Ellipsoid, lat1: number): Mapping {
  const { distance, latitude } = meridianArc(ellipsoid);
  const k = parallelRadius(eccentricitySquared(ellipsoid), lat1);
  return pseudocylindrical({ parallelLength: () => k, parallelHeight: distance, angleAtHeight: latitude });
}

/** EPSG method 1029: on a sphere of the semi-major axis. */
export const equidistantCylinderOfSphere = (lat1: number): Mapping =>
  pseudocylindrical({ parallelLength: () => Math.cos(lat1), parallelHeight: identity, angleAtHeight: identity });

/** EPSG method 9835, Lambert cylindrical equal area (Snyder 1987, 10-11 to 10-20). */
export function equalAreaCylinder(ellipsoid: Ellipsoid, lat1: number): Mapping {
  const { q, latitude } = authalicLatitude(ellipsoid);
  const k = parallelRadius(eccentricitySquared(ellipsoid), lat1);
  return pseudocylindrical({
    parallelLength: () => k,
    parallelHeight: (t) => q(Math.sin(t)) / (2 * k),
    angleAtHeight: (y) => latitude(2 * k * y),
  });
}

/** EPSG method 1078, Equal Earth (Šavrič, Patterson, Jenny 2018). */
export function equalEarth(ellipsoid: Ellipsoid): Mapping {
  const { q, qAtPole, latitude } = authalicLatitude(ellipsoid);
  const radius = Math.sqrt(qAtPole / 2);
  const m = Math.sqrt(3) / 2;
  const curve = oddPolynomial([
    [1, 1.340264],
    [3, -0.081106],
    [7, 0.000893],
    [9, 0.003796],
  ]);
  const slope = evenPolynomial([
    [0, 1.340264],
    [2, -0.243318],
    [6, 0.006251],
    [8, 0.034164],
  ]);
  return pseudocylindrical({
    angle: (phi) => Math.asin((m * q(Math.sin(phi))) / qAtPole),
    latitude: (t) => latitude((Math.sin(t) / m) * qAtPole),
    parallelLength: (t) => (radius * Math.cos(t)) / (m * slope(t)),
    parallelHeight: (t) => radius * curve.parallelHeight(t),
    angleAtHeight: (y) => curve.angleAtHeight(y / radius),
  });
}

/** Van der Grinten's first (Snyder 1987, 29-1 to 29-19). */
function vanDerGrinten(): Mapping {
  return {
    forward(lam, phi, out) {
      const sine = Math.min(1, Math.abs(phi / halfPi));
      const cosine = Math.sqrt(1 - sine * sine);
      const [east, north] = [Math.sign(lam), Math.sign(phi)];
      if (sine < 1e-10) {
        out[0] = lam;
        out[1] = 0;
        return;
      }
      if (Math.abs(lam) < 1e-10 || 1 - sine < 1e-10) {
        out[0] = 0;
        out[1] = (north * Math.PI * sine) / (1 + cosine);
        return;
      }
      const a = Math.abs(Math.PI / lam - lam / Math.PI) / 2;
      const g = cosine / (sine + cosine - 1);
      const p = g * (2 / sine - 1);
      const [p2, a2] = [p * p, a * a];
      const q = a2 + g;
      const sum = p2 + a2;
      out[0] = (east * Math.PI * (a * (g - p2) + Math.sqrt(a2 * (g - p2) ** 2 - sum * (g * g - p2)))) / sum;
      out[1] = (north * Math.PI * (p * q - a * Math.sqrt((a2 + 1) * sum - q * q))) / sum;
    },
    inverse(x, y, out) {
      const [u, v] = [x / Math.PI, Math.abs(y) / Math.PI];
      const [u2, v2] = [u * u, v * v];
      const s = u2 + v2;
      if (s > 1 + 1e-9) return setNoImage(out);
      if (v < 1e-12) {
        out[1] = 0;
      } else {
        const c1 = -v * (1 + s);
        const c2 = c1 - 2 * v2 + u2;
        const c3 = -2 * c1 + 1 + 2 * v2 + s * s;
        const d = v2 / c3 + (2 * (c2 / c3) ** 3 - (9 * c1 * c2) / (c3 * c3)) / 27;
        const a1 = (c1 - (c2 * c2) / (3 * c3)) / c3;
        const m1 = 2 * Math.sqrt(-a1 / 3);
        const cosine = Math.max(-1, Math.min(1, (3 * d) / (a1 * m1)));
        const angle = Math.acos(cosine) / 3;
        out[1] = Math.sign(y) * Math.PI * (-m1 * Math.cos(angle + Math.PI / 3) - c2 / (3 * c3));
      }
      out[0] = Math.abs(u) < 1e-12 ? 0 : (Math.PI * (s - 1 + Math.sqrt(1 + 2 * (u2 - v2) + s * s))) / (2 * u);
    },
  };
}

/** The radius of the sphere of the ellipsoid's surface, in semi-major axes (Snyder 3-13), as PROJ rounds it. */
export const authalicRadius = (ellipsoid: Ellipsoid): number => {
  const e2 = eccentricitySquared(ellipsoid);
  return 1 - e2 * (1 / 6 + e2 * (17 / 360 + e2 * (67 / 3024)));
};
