import { type Area, areaAroundAll } from "./area.js";

/** A longitude and latitude in radians stand at `2 * i` and after it. */
type Positions = Float64Array;

/** Numbers of one entry in radians: how many positions, and the two boxes around those west and east of Greenwich. */
const count = 0;
const south = 1;
const north = 2;
const westOf = 3;
const eastOf = 5;
const numbers = 7;

const none = [Infinity, -Infinity] as const;
const empty = [0, ...none, ...none, ...none] as const;

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
    const side = x < 0 ? at + westOf : at + eastOf;
    if (x < entries[side]!) entries[side] = x;
    if (x > entries[side + 1]!) entries[side + 1] = x;
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

  /** Around the positions, in degrees; across the antimeridian where that is narrower. */
  box(route: number | null): Area {
    const at = (route ?? this.routes) * numbers;
    const degrees = (index: number) => (this.entries[at + index]! * 180) / Math.PI;
    const halves = [westOf, eastOf].filter((side) => this.entries[at + side]! <= this.entries[at + side + 1]!);
    return areaAroundAll(
      halves.map((side): Area => [degrees(side), degrees(south), degrees(side + 1), degrees(north)]),
    );
  }

  clear(): void {
    for (let at = 0; at < this.entries.length; at += numbers) this.entries.set(empty, at);
    this.beside = 0;
  }
}
