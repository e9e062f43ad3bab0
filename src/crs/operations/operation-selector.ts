import { type Area, areaSize, isNearArea, wrapLongitude } from "../area.js";
import { type DatumTransformation, unknownAccuracy } from "./datum-transformations.js";

/**
 * Margin in degrees within which a transformation is used outside its area if no other applies, since data often extend a
 * little beyond the country for which it is defined. Over 111 km, classical networks are distorted by 10 to 20 parts per
 * million, which is one to two metres.
 */
const marginDegrees = 1;

/** Degrees: cell size of the spatial index of areas. */
const squareDegrees = 5;
const columnCount = 360 / squareDegrees;
const rowCount = 180 / squareDegrees;

/**
 * Chooses a transformation for each position. It runs in the loop over all positions, so numbers are in typed arrays: as
 * object members and arguments they would be allocated one by one.
 */
export class OperationSelector {
  /** Transformations whose area overlaps each cell; computed on first use. */
  private readonly squares: (Int32Array | undefined)[] = new Array(columnCount * rowCount).fill(undefined);
  private readonly allIndexes: Int32Array;
  /** West, south, east, north of each transformation; west is NaN if it is valid everywhere. */
  private readonly bounds: Float64Array;
  /** Metres; NaN if unknown. */
  private readonly accuracies: Float64Array;
  private readonly offshore: Uint8Array;
  private readonly hasIntersectedArea: Uint8Array;
  private readonly sizes: Float64Array;
  private readonly position = new Float64Array(2);
  /** Whether the last chosen transformation is used outside its area. */
  isOutsideArea = false;

  constructor(private readonly transformations: readonly DatumTransformation[]) {
    this.allIndexes = Int32Array.from(transformations.keys());
    this.bounds = Float64Array.from(transformations.flatMap(({ area }) => area ?? [Number.NaN, -90, 180, 90]));
    this.accuracies = Float64Array.from(transformations, ({ accuracy }) => accuracy ?? Number.NaN);
    this.offshore = Uint8Array.from(transformations, ({ offshore }) => Number(offshore));
    this.hasIntersectedArea = Uint8Array.from(transformations, ({ hasIntersectedArea }) => Number(hasIntersectedArea));
    const sizes = new Map<string, number>();
    // An operation with several areas counts with their total size.
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
   * Chooses the transformation for position `i` in radians as PROJ does: the most accurate one whose area contains the
   * position; of equally accurate ones, that with the smallest area (PROJ since 9.2). Outside all areas, the most accurate
   * one nearby, if no other is as accurate. −1 if there is none, where PROJ uses the first one or a ballpark operation.
   * @param without 1 for transformations to exclude
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
      const transformation = among[k]!;
      if (without !== null && without[transformation] === 1) continue;
      const at = 4 * transformation;
      const west = bounds[at]!;
      if (!Number.isNaN(west) && !(latitude >= bounds[at + 1]! && latitude <= bounds[at + 3]!)) continue;
      const east = bounds[at + 2]!;
      if (
        west <= east ? !(longitude >= west && longitude <= east) : west > east && longitude < west && longitude > east
      )
        continue;
      const accuracy = accuracies[transformation]!;
      if (best < 0) best = transformation;
      else if (!Number.isNaN(accuracy)) {
        const had = accuracies[best]!;
        // An offshore operation is chosen only if the accuracy of the other one is unknown.
        if (offshore[transformation] === 1 && !Number.isNaN(had)) continue;
        if (!(accuracy >= had) || (accuracy === had && this.isMoreSpecific(transformation, best)))
          best = transformation;
      }
    }
    this.isOutsideArea = best < 0;
    return best < 0 ? this.chooseNearby(longitude, latitude, without) : best;
  }

  /** Of equally accurate ones, the one with the smaller area is more specific. */
  private isMoreSpecific(transformation: number, than: number): boolean {
    return (
      this.sizes[transformation]! < this.sizes[than]! &&
      this.hasIntersectedArea[transformation]! <= this.hasIntersectedArea[than]!
    );
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
      // The same operation in another area is not an alternative.
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
