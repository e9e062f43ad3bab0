import { type Area, inArea, nearArea } from "./area.js";
import { type Route, unknownAccuracy } from "./routes.js";

/**
 * Degrees beyond its area to which a route is still used where no other reaches: areas are drawn around countries, data
 * around what lies in and beside them. Over 111 km the networks of classical surveys stretch by 10 to 20 parts in a
 * million, which is a metre or two.
 */
const margin = 1;

/** Degrees: the globe is parted into squares, of each of which it is known which areas reach into it. */
const side = 5;
const across = 360 / side;
const down = 180 / side;

/** Chooses among routes, position by position: it stands in the loop over all positions. */
export class RouteChooser {
  /** Of each square the routes that reach into it; made when the first position lies there. */
  private readonly squares: (Int32Array | undefined)[] = new Array(across * down).fill(undefined);
  private readonly all: Int32Array;

  constructor(private readonly routes: readonly Route[]) {
    this.all = Int32Array.from(routes.keys());
  }

  /**
   * The route for a position in degrees, as PROJ chooses it: of those in whose area it lies the most accurate; of equally
   * accurate ones the first, unless a later one's area lies inside that one's. Beside all of them the most accurate one
   * near, if no other is as good. −1 where there is none, where PROJ takes the first all the same or a ballpark.
   * @param without those that are not to be chosen, by a 1
   */
  choose(longitude: number, latitude: number, without: Uint8Array | null = null): number {
    const { routes } = this;
    const among = this.reaching(longitude, latitude);
    let best = -1;
    for (let k = 0; k < among.length; k++) {
      const i = among[k]!;
      const { area, accuracy, offshore } = routes[i]!;
      if (without !== null && without[i] === 1) continue;
      if (area && !inArea(area, longitude, latitude)) continue;
      if (best < 0) best = i;
      else if (!offshore && accuracy !== null) {
        const had = routes[best]!;
        const tied = accuracy === had.accuracy && area !== null && had.area !== null && inside(area, had.area);
        if (accuracy < (had.accuracy ?? Infinity) || tied) best = i;
      }
    }
    return best < 0 ? this.near(longitude, latitude, without) : best;
  }

  private near(longitude: number, latitude: number, without: Uint8Array | null): number {
    const { routes } = this;
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < routes.length; i++) {
      const { area, accuracy } = routes[i]!;
      if (without !== null && without[i] === 1) continue;
      if (!area || !nearArea(area, longitude, latitude, margin)) continue;
      const known = accuracy ?? unknownAccuracy;
      if (known <= least) best = known < least ? i : -1;
      least = Math.min(least, known);
    }
    return best;
  }

  private reaching(longitude: number, latitude: number): Int32Array {
    const column = Math.floor((longitude + 180) / side);
    const row = Math.floor((latitude + 90) / side);
    if (!(column >= 0 && column < across && row >= 0 && row < down)) return this.all;
    const square = row * across + column;
    const known = this.squares[square];
    if (known !== undefined) return known;
    const found = this.all.filter((i) => reachesInto(this.routes[i]!.area, column * side - 180, row * side - 90));
    this.squares[square] = found;
    return found;
  }
}

function reachesInto(area: Area | null, west: number, south: number): boolean {
  if (area === null) return true;
  if (area[3] < south || area[1] > south + side) return false;
  return area[0] <= area[2] ? area[2] >= west && area[0] <= west + side : west + side >= area[0] || west <= area[2];
}

const inside = (inner: Area, outer: Area): boolean =>
  inner[0] > outer[0] && inner[1] > outer[1] && inner[2] < outer[2] && inner[3] < outer[3];
