import { type Area, areaSize, isNearArea, wrapLongitude } from "../area.js";
import { type DatumTransformation, unknownAccuracy } from "./datum-transformations.js";

/**
 * Degrees beyond its area to which a route is still used where no other reaches: areas are drawn around countries, data
 * around what lies in and beside them. Over 111 km the networks of classical surveys stretch by 10 to 20 parts in a
 * million, which is a meter or two.
 */
const marginDegrees = 1;

/** Degrees: the globe is parted into squares, of each of which it is known which areas reach into it. */
const squareDegrees = 5;
const columnCount = 360 / squareDegrees;
const rowCount = 180 / squareDegrees;

/**
 * Chooses among routes, position by position: it stands in the loop over all positions, and its numbers in arrays, as
 * those in objects and arguments of functions would be made into objects one by one.
 */
export class OperationSelector {
  /** Of each square the routes that reach into it; made when the first position lies there. */
  private readonly squares: (Int32Array | undefined)[] = new Array(columnCount * rowCount).fill(undefined);
  private readonly allIndexes: Int32Array;
  /** West, south, east, north of each; of one that is for everywhere there is no west. */
  private readonly bounds: Float64Array;
  /** Meters; NaN if unknown. */
  private readonly accuracies: Float64Array;
  private readonly offshore: Uint8Array;
  private readonly hasIntersectedArea: Uint8Array;
  private readonly sizes: Float64Array;
  private readonly position = new Float64Array(2);
  /** Whether the route that was chosen last is used beyond its area. */
  isOutsideArea = false;

  constructor(private readonly transformations: readonly DatumTransformation[]) {
    this.allIndexes = Int32Array.from(transformations.keys());
    this.bounds = Float64Array.from(transformations.flatMap(({ area }) => area ?? [Number.NaN, -90, 180, 90]));
    this.accuracies = Float64Array.from(transformations, ({ accuracy }) => accuracy ?? Number.NaN);
    this.offshore = Uint8Array.from(transformations, ({ offshore }) => Number(offshore));
    this.hasIntersectedArea = Uint8Array.from(transformations, ({ hasIntersectedArea }) => Number(hasIntersectedArea));
    const sizes = new Map<string, number>();
    // One operation in several areas counts with all of them.
    for (const { area, name } of transformations)
      sizes.set(name, (sizes.get(name) ?? 0) + (area === null ? Infinity : areaSize(area)));
    this.sizes = Float64Array.from(transformations, ({ name }) => sizes.get(name)!);
  }

  /** As `chooseAt`, for a position in degrees. */
  choose(longitude: number, latitude: number): number {
    this.position[0] = (longitude * Math.PI) / 180;
    this.position[1] = (latitude * Math.PI) / 180;
    return this.chooseAt(this.position, 0, null);
  }

  /**
   * The route for position `i` in radians, as PROJ chooses it: of those in whose area it lies the most accurate; of
   * equally accurate ones the one with the smallest area (PROJ since 9.2). Beside all of them the most
   * accurate one near, if no other is as good. −1 where there is none, where PROJ takes the first all the same or a
   * ballpark.
   * @param without those that are not to be chosen, by a 1
   */
  chooseAt(xy: Float64Array, i: number, without: Uint8Array | null): number {
    const { bounds, accuracies, offshore } = this;
    const longitude = wrapLongitude((xy[2 * i]! * 180) / Math.PI);
    const latitude = (xy[2 * i + 1]! * 180) / Math.PI;
    const column = Math.floor((longitude + 180) / squareDegrees);
    const row = Math.floor((latitude + 90) / squareDegrees);
    const isOnMap = column >= 0 && column < columnCount && row >= 0 && row < rowCount;
    const among = isOnMap ? this.findInSquare(row * columnCount + column) : this.allIndexes;
    let best = -1;
    for (let k = 0; k < among.length; k++) {
      const route = among[k]!;
      if (without !== null && without[route] === 1) continue;
      const at = 4 * route;
      const west = bounds[at]!;
      if (!Number.isNaN(west) && !(latitude >= bounds[at + 1]! && latitude <= bounds[at + 3]!)) continue;
      const east = bounds[at + 2]!;
      if (
        west <= east ? !(longitude >= west && longitude <= east) : west > east && longitude < west && longitude > east
      )
        continue;
      const accuracy = accuracies[route]!;
      if (best < 0) best = route;
      else if (!Number.isNaN(accuracy)) {
        const had = accuracies[best]!;
        // One for offshore only where the accuracy of the other is unknown.
        if (offshore[route] === 1 && !Number.isNaN(had)) continue;
        if (!(accuracy >= had) || (accuracy === had && this.isMoreSpecific(route, best))) best = route;
      }
    }
    this.isOutsideArea = best < 0;
    return best < 0 ? this.chooseNearby(longitude, latitude, without) : best;
  }

  /** Of equally accurate ones: the smaller the area, the more it was made for this place. */
  private isMoreSpecific(route: number, than: number): boolean {
    return this.sizes[route]! < this.sizes[than]! && this.hasIntersectedArea[route]! <= this.hasIntersectedArea[than]!;
  }

  private chooseNearby(longitude: number, latitude: number, without: Uint8Array | null): number {
    const { transformations } = this;
    let best = -1;
    let least = Infinity;
    let leastName = "";
    for (let i = 0; i < transformations.length; i++) {
      const { area, accuracy, name } = transformations[i]!;
      if (without !== null && without[i] === 1) continue;
      if (!area || !isNearArea(area, longitude, latitude, marginDegrees)) continue;
      const known = accuracy ?? unknownAccuracy;
      // One operation in several areas is no other one.
      if (known > least || (known === least && name === leastName)) continue;
      best = known < least ? i : -1;
      least = known;
      leastName = name;
    }
    return best;
  }

  private findInSquare(square: number): Int32Array {
    const known = this.squares[square];
    if (known !== undefined) return known;
    const [west, south] = [
      (square % columnCount) * squareDegrees - 180,
      Math.floor(square / columnCount) * squareDegrees - 90,
    ];
    const found = this.allIndexes.filter((i) => overlapsSquare(this.transformations[i]!.area, west, south));
    this.squares[square] = found;
    return found;
  }
}

function overlapsSquare(area: Area | null, west: number, south: number): boolean {
  if (area === null) return true;
  if (area[3] < south || area[1] > south + squareDegrees) return false;
  return area[0] <= area[2]
    ? area[2] >= west && area[0] <= west + squareDegrees
    : west + squareDegrees >= area[0] || west <= area[2];
}
