import { type Area, enclosingArea } from "../area.js";

/** A longitude and latitude in radians stand at `2 * i` and after it. */
type Positions = Float64Array;

/** Numbers of one entry in radians: how many positions, and the two boxes around those west and east of Greenwich. */
const countField = 0;
const southField = 1;
const northField = 2;
const westField = 3;
const eastField = 5;
const fieldsPerEntry = 7;

const emptyRange = [Infinity, -Infinity] as const;
const emptyEntry = [0, ...emptyRange, ...emptyRange, ...emptyRange] as const;

/**
 * Counts positions by the route that they went by, with the box around them. It stands in the loop over all positions:
 * numbers are kept in an array, and no position is passed as an argument.
 */
export class PositionCounter {
  private readonly entries: Float64Array;
  /** Positions that lie beyond the area of their route. */
  outsideAreaCount = 0;

  constructor(private readonly transformationCount: number) {
    this.entries = new Float64Array((transformationCount + 1) * fieldsPerEntry);
    this.clear();
  }

  /** Position `i` went by a route. */
  add(route: number, positions: Positions, i: number): void {
    const { entries } = this;
    const at = route * fieldsPerEntry;
    const x = positions[2 * i]!;
    const y = positions[2 * i + 1]!;
    entries[at]!++;
    const side = x < 0 ? at + westField : at + eastField;
    if (x < entries[side]!) entries[side] = x;
    if (x > entries[side + 1]!) entries[side + 1] = x;
    if (y < entries[at + southField]!) entries[at + southField] = y;
    if (y > entries[at + northField]!) entries[at + northField] = y;
  }

  /** Position `i` is served by no route that is good enough. One that is no place on earth is not counted. */
  addUnserved(positions: Positions, i: number): void {
    if (!Number.isNaN(positions[2 * i]! + positions[2 * i + 1]!)) this.add(this.transformationCount, positions, i);
  }

  /** @param route null for positions that no route serves */
  getCount(route: number | null): number {
    return this.entries[(route ?? this.transformationCount) * fieldsPerEntry + countField]!;
  }

  /** Around the positions, in degrees; across the antimeridian where that is narrower. */
  getBox(route: number | null): Area {
    const at = (route ?? this.transformationCount) * fieldsPerEntry;
    const degrees = (index: number) => (this.entries[at + index]! * 180) / Math.PI;
    const halves = [westField, eastField].filter((side) => this.entries[at + side]! <= this.entries[at + side + 1]!);
    return enclosingArea(
      halves.map((side): Area => [degrees(side), degrees(southField), degrees(side + 1), degrees(northField)]),
    );
  }

  clear(): void {
    for (let at = 0; at < this.entries.length; at += fieldsPerEntry) this.entries.set(emptyEntry, at);
    this.outsideAreaCount = 0;
  }
}
