import { type ProjectionKernel, setNaN, wrapRadians } from "./kernels.js";

/**
 * Robinson's own table (A. H. Robinson 1974; Snyder 1993, p. 216): length of the parallel against the equator's, and
 * its distance from the equator against the pole's, every five degrees of latitude.
 */
const parallelLengths = [
  10000, 9986, 9954, 9900, 9822, 9730, 9600, 9427, 9216, 8962, 8679, 8350, 7986, 7597, 7186, 6732, 6213, 5722, 5322,
].map((value) => value / 10_000);
const equatorDistances = [
  0, 620, 1240, 1860, 2480, 3100, 3720, 4340, 4958, 5571, 6176, 6769, 7346, 7903, 8435, 8936, 9394, 9761, 10000,
].map((value) => value / 10_000);
const lengthScale = 0.8487;
const distanceScale = 1.3523;
const degreesPerNode = 5;
const poleNode = 18;

/** Four coefficients a node, of a cubic in the degrees beyond it. */
type CubicCoefficients = Float64Array;

/**
 * The cubic spline through the table from pole to pole, without a knot one node from either. Robinson named no way to
 * interpolate; this is PROJ's, whose coefficients have six digits in single precision, so ours have no more. With full
 * precision the result would differ from other programs by up to 0.4 m.
 * @param mirror 1 where the southern half repeats the northern, −1 where it is its negative
 */
function cubicSpline(values: readonly number[], mirror: 1 | -1): CubicCoefficients {
  const at = (i: number) => (i < 0 ? mirror * values[-i]! : values[i]!);
  const bend = (i: number) => (3 * (at(i + 1) - 2 * at(i) + at(i - 1))) / degreesPerNode ** 2;
  // Half the second derivatives. The missing knot gives the last but one; the others follow by Gauss–Seidel steps, each
  // of which leaves less than a third of the error.
  const second = new Float64Array(poleNode + 1);
  second[poleNode - 1] = bend(poleNode - 1) / 6;
  for (let round = 0; round < 40; round++) {
    for (let i = poleNode - 2; i >= 0; i--) {
      const before = i === 0 ? mirror * second[1]! : second[i - 1]!;
      second[i] = (bend(i) - second[i + 1]! - before) / 4;
    }
  }
  second[poleNode] = 2 * second[poleNode - 1]! - second[poleNode - 2]!;
  const cubics = new Float64Array(4 * (poleNode + 1));
  let node = [0, 0, 0, 0];
  for (let i = 0; i <= poleNode; i++) {
    if (i < poleNode) {
      const third = (second[i + 1]! - second[i]!) / (3 * degreesPerNode);
      const slope = (at(i + 1) - at(i)) / degreesPerNode - degreesPerNode * (second[i]! + degreesPerNode * third);
      node = [at(i), slope, second[i]!, third];
    } else {
      // Beyond the last but one its cubic goes on.
      const [, slope, half, third] = node as [number, number, number, number];
      node = [
        at(i),
        slope + degreesPerNode * (2 * half + 3 * degreesPerNode * third),
        half + 3 * degreesPerNode * third,
        third,
      ];
    }
    cubics.set(node.map(toSixDigits), 4 * i);
  }
  return cubics;
}

const toSixDigits = (value: number): number =>
  Math.abs(value) < 1e-15 ? 0 : Math.fround(Number(value.toPrecision(6)));

const valueAt = (c: CubicCoefficients, node: number, t: number): number =>
  c[4 * node]! + t * (c[4 * node + 1]! + t * (c[4 * node + 2]! + t * c[4 * node + 3]!));
const slopeAt = (c: CubicCoefficients, node: number, t: number): number =>
  c[4 * node + 1]! + t * (2 * c[4 * node + 2]! + 3 * t * c[4 * node + 3]!);

/** Robinson's world map, on the sphere whose radius is the semi-major axis, as PROJ and ESRI have it. */
export function robinson(a: number, lon0: number, x0: number, y0: number): ProjectionKernel {
  const x = cubicSpline(parallelLengths, 1);
  const y = cubicSpline(equatorDistances, -1);
  const perRadius = 1 / a;
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const lat = xy[2 * i + 1]!;
        const degrees = Math.abs(lat) * (180 / Math.PI);
        if (!(degrees <= 90 + 1e-10)) {
          setNaN(xy, i);
          continue;
        }
        const node = Math.floor(degrees / degreesPerNode + 1e-14);
        const t = degrees - degreesPerNode * node;
        xy[2 * i] = a * lengthScale * valueAt(x, node, t) * wrapRadians(xy[2 * i]! - lon0) + x0;
        const distance = a * (valueAt(y, node, t) * distanceScale);
        xy[2 * i + 1] = (lat < 0 ? -distance : distance) + y0;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const north = xy[2 * i + 1]! - y0;
        // In PROJ's order: at a node the cubics differ by a metre, and the last bit chooses between them.
        const distance = Math.abs(north * perRadius) / distanceScale;
        if (!(distance <= 1.000001)) {
          setNaN(xy, i);
          continue;
        }
        // The node below, and the degrees beyond it by Newton's method.
        let node = Math.min(Math.floor(distance * poleNode), poleNode);
        while (y[4 * node]! > distance) node--;
        while (node < poleNode && y[4 * node + 4]! <= distance) node++;
        let t = 0;
        for (let round = 0; round < 20 && node < poleNode; round++) {
          const change = (valueAt(y, node, t) - distance) / slopeAt(y, node, t);
          t -= change;
          if (Math.abs(change) < 1e-12) break;
        }
        const longitude = (xy[2 * i]! - x0) / (a * lengthScale * valueAt(x, node, t));
        if (!(Math.abs(longitude) <= Math.PI + 1e-12)) {
          setNaN(xy, i);
          continue;
        }
        xy[2 * i] = wrapRadians(longitude + lon0);
        xy[2 * i + 1] = (((north < 0 ? -1 : 1) * (degreesPerNode * node + t)) / 180) * Math.PI;
      }
    },
  };
}
