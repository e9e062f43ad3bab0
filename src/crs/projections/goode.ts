/** Goode's interrupted homolosine (Snyder 1989, USGS 1453). */
import { type Mapping, setNoImage } from "./mapping.js";
import { mollweide, sinusoidalSphere } from "./world-maps.js";

/** A lobe of Goode's map: from a western to an eastern longitude, about a meridian of its own. Degrees. */
type Lobe = readonly [west: number, east: number, meridian: number];
interface Lobes {
  readonly north: readonly Lobe[];
  readonly south: readonly Lobe[];
}

/** Goode 1925: uninterrupted continents, and uninterrupted oceans. */
export const goodeLobes = {
  land: {
    north: [
      [-180, -40, -100],
      [-40, 180, 30],
    ],
    south: [
      [-180, -100, -160],
      [-100, -20, -60],
      [-20, 80, 20],
      [80, 180, 140],
    ],
  },
  ocean: {
    north: [
      [-180, -90, -140],
      [-90, 60, -10],
      [60, 180, 130],
    ],
    south: [
      [-180, -60, -110],
      [-60, 90, 20],
      [90, 180, 150],
    ],
  },
} as const satisfies Record<string, Lobes>;

/** Goode's interrupted homolosine: sinusoidal in between, Mollweide beyond 40°44′11.8″. */
export function goode({ north, south }: Lobes): Mapping {
  const border = ((40 + 44 / 60 + 11.8 / 3600) * Math.PI) / 180;
  const [sinusoid, homolograph] = [sinusoidalSphere(), mollweide()];
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const at = new Float64Array(2);
  homolograph.forward(0, border, at);
  const step = border - at[1]!;
  return {
    forward(lam, phi, out) {
      const lobes = phi >= 0 ? north : south;
      const lobe = lobes.find(([, east]) => lam <= radians(east)) ?? lobes.at(-1)!;
      const meridian = radians(lobe[2]);
      if (Math.abs(phi) < border) sinusoid.forward(lam - meridian, phi, out);
      else {
        homolograph.forward(lam - meridian, phi, out);
        out[1] = out[1]! + (phi < 0 ? -step : step);
      }
      out[0] = out[0]! + meridian;
    },
    inverse(x, y, out) {
      const lobes = y >= 0 ? north : south;
      const [west, east, degrees] = lobes.find(([, edge]) => x <= radians(edge)) ?? lobes.at(-1)!;
      const meridian = radians(degrees);
      if (Math.abs(y) < border) sinusoid.inverse(x - meridian, y, out);
      else homolograph.inverse(x - meridian, y - (y < 0 ? -step : step), out);
      out[0] = out[0]! + meridian;
      if (!(out[0]! >= radians(west) - 1e-9 && out[0]! <= radians(east) + 1e-9)) setNoImage(out);
    },
  };
}
