import { edgeOf, type Grid } from "./grid.js";

/** Numbers of a part, one after the other. */
const west = 0;
const south = 1;
const stepX = 2;
const stepY = 3;
const columns = 4;
const rows = 5;
const offset = 6;
const edge = 7;
const eastEnd = 8;
const northEnd = 9;
const numbers = 10;

/** How near to the next node, in cells, a position just beyond the last one still counts: PROJ's. */
const beyondLast = 1e-4;

const secondOfArc = Math.PI / 648000;
const twoPi = 2 * Math.PI;

/**
 * Finds parts and shifts in a grid. Angles in radians pass in and out by `place` and `shift`: as arguments of functions
 * they would be made into objects, one for each, at every position.
 */
export class GridSearch {
  /** Longitude and latitude that are asked for. */
  readonly place = new Float64Array(2);
  /** What the last interpolation gave: east, north. */
  readonly shift = new Float64Array(2);
  private readonly values: Float32Array;
  private readonly parts: Float64Array;
  /** Of each part its first child and the next part beside it; −1 where there is none. */
  private readonly firstChild: Int32Array;
  private readonly nextBeside: Int32Array;
  private readonly firstRoot: number;

  constructor({ values, parts, roots }: Grid) {
    this.values = values;
    this.parts = new Float64Array(parts.length * numbers);
    this.firstChild = new Int32Array(parts.length).fill(-1);
    this.nextBeside = new Int32Array(parts.length).fill(-1);
    this.firstRoot = roots[0] ?? -1;
    const link = (siblings: readonly number[]) => {
      for (let k = 1; k < siblings.length; k++) this.nextBeside[siblings[k - 1]!] = siblings[k]!;
    };
    link(roots);
    parts.forEach((part, index) => {
      const of = [part.west, part.south, part.stepX, part.stepY, part.columns, part.rows, part.offset, edgeOf(part)];
      this.parts.set([...of, part.east, part.north], index * numbers);
      this.firstChild[index] = part.children[0] ?? -1;
      link(part.children);
    });
  }

  /** The part that the place lies in and none of whose children it lies in; −1 where it lies in none. */
  find(): number {
    const { parts, place, firstChild, nextBeside } = this;
    const x = place[0]!;
    const y = place[1]!;
    let found = -1;
    let part = this.firstRoot;
    while (part >= 0) {
      const at = part * numbers;
      const margin = parts[at + edge]!;
      const isLevel = y + margin >= parts[at + south]! && y - margin <= parts[at + northEnd]!;
      const from = parts[at + west]!;
      const to = parts[at + eastEnd]!;
      const turned = x + margin < from ? x + twoPi : x - margin > to ? x - twoPi : x;
      if (isLevel && turned + margin >= from && turned - margin <= to) {
        found = part;
        part = firstChild[part]!;
      } else part = nextBeside[part]!;
    }
    return found;
  }

  /** Turns the place into one counted from the south-western node of a part that holds it. */
  enter(part: number): void {
    const { parts, place } = this;
    const at = part * numbers;
    const margin = parts[at + edge]!;
    const east = place[0]! - parts[at + west]!;
    const width = parts[at + eastEnd]! - parts[at + west]!;
    place[0] = east + margin < 0 ? east + twoPi : east - margin > width ? east - twoPi : east;
    place[1] = place[1]! - parts[at + south]!;
  }

  /** The opposite. */
  leave(part: number): void {
    const at = part * numbers;
    this.place[0] = this.place[0]! + this.parts[at + west]!;
    this.place[1] = this.place[1]! + this.parts[at + south]!;
  }

  /** Puts the shift at the place, which is counted from the part's node, into `shift`; false where there is none. */
  interpolate(part: number): boolean {
    const { parts, place, values, shift } = this;
    const at = part * numbers;
    const width = parts[at + columns]!;
    const height = parts[at + rows]!;
    const atX = place[0]! / parts[at + stepX]!;
    const atY = place[1]! / parts[at + stepY]!;
    let column = Math.floor(atX);
    let row = Math.floor(atY);
    let shareX = atX - column;
    let shareY = atY - row;
    if (column === -1 && shareX > 1 - beyondLast) {
      column = 0;
      shareX = 0;
    } else if (column === width - 1 && shareX < beyondLast) {
      column--;
      shareX = 1;
    }
    if (row === -1 && shareY > 1 - beyondLast) {
      row = 0;
      shareY = 0;
    } else if (row === height - 1 && shareY < beyondLast) {
      row--;
      shareY = 1;
    }
    if (!(column >= 0 && column < width - 1 && row >= 0 && row < height - 1)) return false;
    const here = parts[at + offset]! + 2 * (row * width + column);
    const above = here + 2 * width;
    const southWest = (1 - shareX) * (1 - shareY);
    const southEast = shareX * (1 - shareY);
    const northWest = (1 - shareX) * shareY;
    const northEast = shareX * shareY;
    const east =
      southWest * values[here]! +
      southEast * values[here + 2]! +
      northWest * values[above]! +
      northEast * values[above + 2]!;
    const north =
      southWest * values[here + 1]! +
      southEast * values[here + 3]! +
      northWest * values[above + 1]! +
      northEast * values[above + 3]!;
    shift[0] = east * secondOfArc;
    shift[1] = north * secondOfArc;
    return !Number.isNaN(east + north);
  }
}
