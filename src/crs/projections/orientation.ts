/** Projections whose axes do not point east and north. x and y are then in the order of the definition, as in PROJ. */
import { type ProjectionKernel, setNaN } from "./kernels.js";

/** Signs of x and y by axes; `swap` if the first axis is along the meridian. */
const axisOrders = {
  "westing, southing": { swap: false, x: -1, y: -1 },
  "westing, northing": { swap: false, x: -1, y: 1 },
  "southing, westing": { swap: true, x: -1, y: -1 },
} as const;

/**
 * Reorders the axes of a kernel of easting and northing; the inverse is the same. `x0` and `y0` are the false westing
 * and the false southing or northing.
 */
export function reorderAxes(
  kernel: ProjectionKernel,
  arrangement: keyof typeof axisOrders,
  x0 = 0,
  y0 = 0,
): ProjectionKernel {
  const { swap, x: signX, y: signY } = axisOrders[arrangement];
  return {
    forward(xy, from, to) {
      kernel.forward(xy, from, to);
      for (let i = from; i < to; i++) {
        const x = signX * xy[2 * i]! + x0;
        const y = signY * xy[2 * i + 1]! + y0;
        xy[2 * i] = swap ? y : x;
        xy[2 * i + 1] = swap ? x : y;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const x = xy[2 * i + (swap ? 1 : 0)]!;
        const y = xy[2 * i + (swap ? 0 : 1)]!;
        xy[2 * i] = signX * (x - x0);
        xy[2 * i + 1] = signY * (y - y0);
      }
      kernel.inverse(xy, from, to);
    },
  };
}

const million = 1e6;

/**
 * EPSG method 9824, zoned grid with the zone number as prefix of the easting (guidance note 7-2, 3.2.3.1). Degrees.
 * @param zone the map of a zone by its central meridian
 */
export function zonedGrid(
  initialLongitude: number,
  width: number,
  zone: (lon0: number) => ProjectionKernel,
): ProjectionKernel | null {
  const count = 360 / width;
  if (!Number.isInteger(count)) return null;
  const zones: ProjectionKernel[] = [];
  const zoneOf = (number: number) => (zones[number] ??= zone(initialLongitude + (number - 0.5) * width));
  return {
    forward(xy, from, to) {
      for (let i = from; i < to; i++) {
        const fromInitial = (xy[2 * i]! * 180) / Math.PI - initialLongitude;
        const number = 1 + Math.floor((fromInitial - 360 * Math.floor(fromInitial / 360)) / width);
        if (!(number >= 1 && number <= count)) {
          setNaN(xy, i);
          continue;
        }
        zoneOf(number).forward(xy, i, i + 1);
        xy[2 * i] = xy[2 * i]! + number * million;
      }
    },
    inverse(xy, from, to) {
      for (let i = from; i < to; i++) {
        const number = Math.floor(xy[2 * i]! / million);
        if (!(number >= 1 && number <= count)) {
          setNaN(xy, i);
          continue;
        }
        xy[2 * i] = xy[2 * i]! - number * million;
        zoneOf(number).inverse(xy, i, i + 1);
      }
    },
  };
}
