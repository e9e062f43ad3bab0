import { edgeToleranceOf, type Grid } from "./grid.js";

/** Indexes of the numbers of a part in `bounds`. */
const west = 0;
const south = 1;
const stepX = 2;
const stepY = 3;
const columns = 4;
const rows = 5;
const offset = 6;
const edgeTolerance = 7;
const eastEnd = 8;
const northEnd = 9;
const isBiquadratic = 10;
const fieldsPerPart = 11;

/** Tolerance in cells for positions beyond the last node (PROJ's value). */
const beyondLastNode = 1e-4;

const arcSecond = Math.PI / 648000;
const twoPi = 2 * Math.PI;

/**
 * Finds parts and shifts in a grid. Angles in radians are passed in the arrays `position` and `shift`: as arguments and
 * return values, numbers would be allocated as objects for every position.
 */
export class GridSearch {
  /** Longitude and latitude to look up. */
  readonly position = new Float64Array(2);
  /** Result of the last interpolation: east, north. */
  readonly shift = new Float64Array(2);
  private readonly values: Float32Array;
  private readonly parts: Float64Array;
  /** First child and next sibling of each part; −1 if there is none. */
  private readonly firstChild: Int32Array;
  private readonly nextSibling: Int32Array;
  private readonly firstRoot: number;

  constructor({ values, parts, roots }: Grid) {
    this.values = values;
    this.parts = new Float64Array(parts.length * fieldsPerPart);
    this.firstChild = new Int32Array(parts.length).fill(-1);
    this.nextSibling = new Int32Array(parts.length).fill(-1);
    this.firstRoot = roots[0] ?? -1;
    const link = (siblings: readonly number[]) => {
      for (let k = 1; k < siblings.length; k++) this.nextSibling[siblings[k - 1]!] = siblings[k]!;
    };
    link(roots);
    parts.forEach((part, index) => {
      const of = [
        part.west,
        part.south,
        part.stepX,
        part.stepY,
        part.columns,
        part.rows,
        part.offset,
        edgeToleranceOf(part),
      ];
      this.parts.set([...of, part.east, part.north, Number(part.isBiquadratic)], index * fieldsPerPart);
      this.firstChild[index] = part.children[0] ?? -1;
      link(part.children);
    });
  }

  /** The innermost part that contains the position; −1 if there is none. */
  findPart(): number {
    const { parts, position, firstChild, nextSibling } = this;
    const x = position[0]!;
    const y = position[1]!;
    let found = -1;
    let part = this.firstRoot;
    while (part >= 0) {
      const at = part * fieldsPerPart;
      const margin = parts[at + edgeTolerance]!;
      const isLevel = y + margin >= parts[at + south]! && y - margin <= parts[at + northEnd]!;
      const from = parts[at + west]!;
      const to = parts[at + eastEnd]!;
      const turned = x + margin < from ? x + twoPi : x - margin > to ? x - twoPi : x;
      if (isLevel && turned + margin >= from && turned - margin <= to) {
        found = part;
        part = firstChild[part]!;
      } else part = nextSibling[part]!;
    }
    return found;
  }

  /** Converts the position to coordinates relative to the southwestern node of its part. */
  toPartCoordinates(part: number): void {
    const { parts, position } = this;
    const at = part * fieldsPerPart;
    const margin = parts[at + edgeTolerance]!;
    const east = position[0]! - parts[at + west]!;
    const width = parts[at + eastEnd]! - parts[at + west]!;
    position[0] = east + margin < 0 ? east + twoPi : east - margin > width ? east - twoPi : east;
    position[1] = position[1]! - parts[at + south]!;
  }

  /** The inverse of `toPartCoordinates`. */
  fromPartCoordinates(part: number): void {
    const at = part * fieldsPerPart;
    this.position[0] = this.position[0]! + this.parts[at + west]!;
    this.position[1] = this.position[1]! + this.parts[at + south]!;
  }

  /** Interpolates the shift at the position (in part coordinates) into `shift`; false if there is none. */
  interpolate(part: number): boolean {
    const { parts, position, values, shift } = this;
    const at = part * fieldsPerPart;
    const width = parts[at + columns]!;
    const height = parts[at + rows]!;
    const atX = position[0]! / parts[at + stepX]!;
    const atY = position[1]! / parts[at + stepY]!;
    let column = Math.floor(atX);
    let row = Math.floor(atY);
    let shareX = atX - column;
    let shareY = atY - row;
    if (column === -1 && shareX > 1 - beyondLastNode) {
      column = 0;
      shareX = 0;
    } else if (column === width - 1 && shareX < beyondLastNode) {
      column--;
      shareX = 1;
    }
    if (row === -1 && shareY > 1 - beyondLastNode) {
      row = 0;
      shareY = 0;
    } else if (row === height - 1 && shareY < beyondLastNode) {
      row--;
      shareY = 1;
    }
    if (!(column >= 0 && column < width - 1 && row >= 0 && row < height - 1)) return false;
    if (parts[at + isBiquadratic] === 1) {
      const before = (shareX <= 0.5 && column > 0) || column === width - 2 ? 1 : 0;
      const below = (shareY <= 0.5 && row > 0) || row === height - 2 ? 1 : 0;
      return this.interpolateBiquadratic(part, column - before, row - below, shareX + before, shareY + below);
    }
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
    shift[0] = east * arcSecond;
    shift[1] = north * arcSecond;
    return !Number.isNaN(east + north);
  }

  /** Whether the inverse of this part is not iterated: NOAA's program uses the shift at the start position. */
  usesBiquadratic(part: number): boolean {
    return this.parts[part * fieldsPerPart + isBiquadratic] === 1;
  }

  /**
   * Parabolas through the nodes of three rows, and one across them (NOAA Technical Memorandum NOS NGS 84, NADCON 5).
   * @param x cells east of the first of three columns, y north of the first of three rows
   */
  private interpolateBiquadratic(part: number, column: number, row: number, x: number, y: number): boolean {
    const { parts, values, shift } = this;
    const width = parts[part * fieldsPerPart + columns]!;
    const first = parts[part * fieldsPerPart + offset]! + 2 * (row * width + column);
    for (let which = 0; which < 2; which++) {
      const at = first + which;
      const [low, middle, high] = [at, at + 2 * width, at + 4 * width];
      const seconds = interpolateParabola(
        y,
        interpolateParabola(x, values[low]!, values[low + 2]!, values[low + 4]!),
        interpolateParabola(x, values[middle]!, values[middle + 2]!, values[middle + 4]!),
        interpolateParabola(x, values[high]!, values[high + 2]!, values[high + 4]!),
      );
      shift[which] = seconds * arcSecond;
    }
    return !Number.isNaN(shift[0]! + shift[1]!);
  }
}

/** Evaluates the parabola through the values at 0, 1 and 2, for x from 0 to 2. */
function interpolateParabola(x: number, at0: number, at1: number, at2: number): number {
  const rise = at1 - at0;
  return at0 + x * rise + 0.5 * x * (x - 1) * (at2 - at1 - rise);
}
