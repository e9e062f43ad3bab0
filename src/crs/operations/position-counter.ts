import { type Area, enclosingArea } from "../area.js";

/** Interleaved longitudes and latitudes in radians. */
type Positions = Float64Array;

/** Fields of an entry: the number of positions, and the boxes of those west and east of Greenwich, in radians. */
const countField = 0;
const southField = 1;
const northField = 2;
const westField = 3;
const eastField = 5;
const fieldsPerEntry = 7;

const emptyRange = [Infinity, -Infinity] as const;
const emptyEntry = [0, ...emptyRange, ...emptyRange, ...emptyRange] as const;

/**
 * Counts positions and their bounding box by transformation. It runs in the loop over all positions: numbers are kept in a
 * typed array, and positions are passed by index.
 */
export class PositionCounter {
  private readonly entries: Float64Array;
  /** Number of positions outside the area of their transformation. */
  outsideAreaCount = 0;

  constructor(private readonly transformationCount: number) {
    this.entries = new Float64Array((transformationCount + 1) * fieldsPerEntry);
    this.clear();
  }

  /** Counts position `i` for a transformation. */
  add(transformation: number, positions: Positions, i: number): void {
    const { entries } = this;
    const at = transformation * fieldsPerEntry;
    const x = positions[2 * i]!;
    const y = positions[2 * i + 1]!;
    entries[at]!++;
    const side = x < 0 ? at + westField : at + eastField;
    if (x < entries[side]!) entries[side] = x;
    if (x > entries[side + 1]!) entries[side + 1] = x;
    if (y < entries[at + southField]!) entries[at + southField] = y;
    if (y > entries[at + northField]!) entries[at + northField] = y;
  }

  /** Counts the positions before `count` for a transformation, without invalid ones. */
  addAll(transformation: number, positions: Positions, count: number): void {
    for (let i = 0; i < count; i++)
      if (!Number.isNaN(positions[2 * i]! + positions[2 * i + 1]!)) this.add(transformation, positions, i);
  }

  /** Counts position `i` as not transformable. Invalid positions are not counted. */
  addUnserved(positions: Positions, i: number): void {
    if (!Number.isNaN(positions[2 * i]! + positions[2 * i + 1]!)) this.add(this.transformationCount, positions, i);
  }

  /** @param transformation null for positions without one */
  getCount(transformation: number | null): number {
    return this.entries[(transformation ?? this.transformationCount) * fieldsPerEntry + countField]!;
  }

  /** Bounding box of the positions in degrees; it crosses the antimeridian if that is narrower. */
  getBox(transformation: number | null): Area {
    const at = (transformation ?? this.transformationCount) * fieldsPerEntry;
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
