import { edgeOf, type Grid, type GridPart } from "./grid.js";

const secondOfArc = Math.PI / 648000;
const twoPi = 2 * Math.PI;

/** Rounds of the inverse at most, and the square of what ends it, in radians: PROJ's. */
const mostRounds = 10;
const enough = 1e-24;

/** How near to the next node, in cells, a position just beyond the last one still counts: PROJ's. */
const beyondLast = 1e-4;

/**
 * Moves positions by grids: each by the first that has its place. Interpolation is bilinear and the inverse by iteration,
 * as PROJ's `hgridshift` has them. One for a thread: it remembers numbers between its steps so as to make no objects.
 */
export class GridShift {
  /** What the last interpolation gave, in radians. */
  private shiftX = 0;
  private shiftY = 0;
  /** Where the last search for a part ended, and whether it was at what stands for no shift. */
  private grid: Grid | null = null;
  private isUnshifted = false;

  /** @param grids null stands for no shift, everywhere */
  constructor(
    private readonly grids: readonly (Grid | null)[],
    private readonly inverse: boolean,
  ) {}

  /** Moves position `i` (radians) in place; NaN where no grid has it. */
  apply(xy: Float64Array, i: number): void {
    const x = xy[2 * i]!;
    const y = xy[2 * i + 1]!;
    const part = this.partAt(x, y);
    if (part === null && this.isUnshifted) return;
    if (part === null || !this.interpolate(part, this.fromWest(part, x), y - part.south)) {
      xy[2 * i] = Number.NaN;
      xy[2 * i + 1] = Number.NaN;
    } else if (this.inverse) this.goBack(part, xy, i);
    else {
      xy[2 * i] = x + this.shiftX;
      xy[2 * i + 1] = y + this.shiftY;
    }
  }

  /** From where the position is shifted to; the interpolation at that place is the first guess. */
  private goBack(first: GridPart, xy: Float64Array, i: number): void {
    const x = xy[2 * i]!;
    const y = xy[2 * i + 1]!;
    let part = first;
    let x0 = this.fromWest(part, x);
    let y0 = y - part.south;
    let guessX = x0 - this.shiftX;
    let guessY = y0 - this.shiftY;
    let settled = false;
    for (let round = 0; round < mostRounds && !settled; round++) {
      if (!this.interpolate(part, guessX, guessY)) {
        const other = this.partAt(guessX + part.west, guessY + part.south);
        // At the edge of all there is the first approximation is what there is.
        if (other === null || other === part) {
          settled = true;
          continue;
        }
        guessX += part.west - other.west;
        guessY += part.south - other.south;
        part = other;
        x0 = this.fromWest(part, x);
        y0 = y - part.south;
        continue;
      }
      const offX = guessX + this.shiftX - x0;
      const offY = guessY + this.shiftY - y0;
      guessX -= offX;
      guessY -= offY;
      settled = offX * offX + offY * offY <= enough;
    }
    const longitude = guessX + part.west;
    const turned = Math.abs(longitude) <= Math.PI ? longitude : longitude - twoPi * Math.round(longitude / twoPi);
    xy[2 * i] = settled ? turned : Number.NaN;
    xy[2 * i + 1] = settled ? guessY + part.south : Number.NaN;
  }

  /** Longitude counted from the western edge of a part that holds it. */
  private fromWest(part: GridPart, x: number): number {
    const edge = edgeOf(part);
    const offset = x - part.west;
    if (offset + edge < 0) return offset + twoPi;
    return offset - edge > part.east - part.west ? offset - twoPi : offset;
  }

  private partAt(x: number, y: number): GridPart | null {
    this.isUnshifted = false;
    for (let k = 0; k < this.grids.length; k++) {
      const grid = this.grids[k]!;
      if (grid === null) {
        this.isUnshifted = true;
        return null;
      }
      const found = densestPart(grid, x, y);
      if (found !== null) {
        this.grid = grid;
        return found;
      }
    }
    return null;
  }

  /** The shift at a place that is counted from the south-western node of a part; false where there is none. */
  private interpolate(part: GridPart, fromWest: number, fromSouth: number): boolean {
    const { columns, rows, offset } = part;
    const atX = fromWest / part.stepX;
    const atY = fromSouth / part.stepY;
    let column = Math.floor(atX);
    let row = Math.floor(atY);
    let shareX = atX - column;
    let shareY = atY - row;
    if (column === -1 && shareX > 1 - beyondLast) {
      column = 0;
      shareX = 0;
    } else if (column === columns - 1 && shareX < beyondLast) {
      column--;
      shareX = 1;
    }
    if (row === -1 && shareY > 1 - beyondLast) {
      row = 0;
      shareY = 0;
    } else if (row === rows - 1 && shareY < beyondLast) {
      row--;
      shareY = 1;
    }
    if (!(column >= 0 && column < columns - 1 && row >= 0 && row < rows - 1)) return false;
    const { values } = this.grid!;
    const here = offset + 2 * (row * columns + column);
    const above = here + 2 * columns;
    const southWest = (1 - shareX) * (1 - shareY);
    const southEast = shareX * (1 - shareY);
    const northWest = (1 - shareX) * shareY;
    const northEast = shareX * shareY;
    const seconds =
      southWest * values[here]! +
      southEast * values[here + 2]! +
      northWest * values[above]! +
      northEast * values[above + 2]!;
    this.shiftX = seconds * secondOfArc;
    this.shiftY =
      (southWest * values[here + 1]! +
        southEast * values[here + 3]! +
        northWest * values[above + 1]! +
        northEast * values[above + 3]!) *
      secondOfArc;
    return !Number.isNaN(this.shiftX + this.shiftY);
  }
}

/** The part that a place lies in and none of whose children it lies in; null where it lies in none. */
function densestPart(grid: Grid, x: number, y: number): GridPart | null {
  let found: GridPart | null = null;
  let among = grid.roots;
  for (let k = 0; k < among.length; ) {
    const part: GridPart = grid.parts[among[k]!]!;
    if (!isIn(part, x, y)) {
      k++;
      continue;
    }
    found = part;
    among = part.children;
    k = 0;
  }
  return found;
}

function isIn(part: GridPart, x: number, y: number): boolean {
  const edge = edgeOf(part);
  if (!(y + edge >= part.south && y - edge <= part.north)) return false;
  const turned = x + edge < part.west ? x + twoPi : x - edge > part.east ? x - twoPi : x;
  return turned + edge >= part.west && turned - edge <= part.east;
}
