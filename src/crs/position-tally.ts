import type { Area } from "./area.js";

/** A longitude and latitude in radians stand at `2 * i` and after it. */
type Positions = Float64Array;

/** Numbers of one entry: how many positions, and the box around them in radians. */
const count = 0;
const west = 1;
const south = 2;
const east = 3;
const north = 4;
const numbers = 5;

const empty = [0, Infinity, Infinity, -Infinity, -Infinity] as const;

/**
 * Counts positions by the route that they went by, with the box around them. It stands in the loop over all positions:
 * numbers are kept in an array, and no position is passed as an argument.
 */
export class PositionTally {
  private readonly entries: Float64Array;
  /** Positions that lie beyond the area of their route. */
  beside = 0;

  constructor(private readonly routes: number) {
    this.entries = new Float64Array((routes + 1) * numbers);
    this.clear();
  }

  /** Position `i` went by a route. */
  add(route: number, positions: Positions, i: number): void {
    const { entries } = this;
    const at = route * numbers;
    const x = positions[2 * i]!;
    const y = positions[2 * i + 1]!;
    entries[at]!++;
    if (x < entries[at + west]!) entries[at + west] = x;
    if (x > entries[at + east]!) entries[at + east] = x;
    if (y < entries[at + south]!) entries[at + south] = y;
    if (y > entries[at + north]!) entries[at + north] = y;
  }

  /** Position `i` is served by no route that is good enough. One that is no place on earth is not counted. */
  refuse(positions: Positions, i: number): void {
    if (!Number.isNaN(positions[2 * i]! + positions[2 * i + 1]!)) this.add(this.routes, positions, i);
  }

  /** @param route null for positions that no route serves */
  positions(route: number | null): number {
    return this.entries[(route ?? this.routes) * numbers + count]!;
  }

  /** Around the positions, in degrees. */
  box(route: number | null): Area {
    const at = (route ?? this.routes) * numbers;
    const degrees = (index: number) => (this.entries[at + index]! * 180) / Math.PI;
    return [degrees(west), degrees(south), degrees(east), degrees(north)];
  }

  clear(): void {
    for (let at = 0; at < this.entries.length; at += numbers) this.entries.set(empty, at);
    this.beside = 0;
  }
}
