import type { Grid } from "./grid.js";
import { GridSearch } from "./grid-search.js";

const twoPi = 2 * Math.PI;

/** Rounds of the inverse at most, and the square of what ends it, in radians: PROJ's. */
const maxIterations = 10;
const convergenceSquared = 1e-24;

/**
 * Moves positions by grids: each by the first that has its place. Interpolation is bilinear and the inverse by iteration,
 * as PROJ's `hgridshift` has them, or for NADCON 5 as its `gridshift`. One for a thread: it remembers numbers between its steps so as to make no objects.
 */
export class GridShift {
  private readonly searches: readonly (GridSearch | null)[];
  /** Where the last search ended: the grid, −1 where there is none, and the part of it, −1 for what has no shift. */
  private grid = -1;
  private part = -1;

  /** @param grids null stands for no shift, everywhere */
  constructor(
    grids: readonly (Grid | null)[],
    private readonly inverse: boolean,
  ) {
    this.searches = grids.map((grid) => grid && new GridSearch(grid));
  }

  /** Moves position `i` (radians) in place; NaN where no grid has it. */
  apply(xy: Float64Array, i: number): void {
    this.findFirst(xy, i);
    const search = this.grid < 0 ? null : this.searches[this.grid]!;
    if (this.grid >= 0 && search === null) return;
    if (search === null || !this.shiftAt(search, xy, i)) {
      xy[2 * i] = Number.NaN;
      xy[2 * i + 1] = Number.NaN;
    } else if (this.inverse) this.goBack(search, xy, i);
    else {
      xy[2 * i] = xy[2 * i]! + search.shift[0]!;
      xy[2 * i + 1] = xy[2 * i + 1]! + search.shift[1]!;
    }
  }

  private findFirst(xy: Float64Array, i: number): void {
    for (let k = 0; k < this.searches.length; k++) {
      const search = this.searches[k]!;
      this.grid = k;
      this.part = -1;
      if (search === null) return;
      search.place[0] = xy[2 * i]!;
      search.place[1] = xy[2 * i + 1]!;
      this.part = search.find();
      if (this.part >= 0) return;
    }
    this.grid = -1;
  }

  private shiftAt(search: GridSearch, xy: Float64Array, i: number): boolean {
    search.place[0] = xy[2 * i]!;
    search.place[1] = xy[2 * i + 1]!;
    search.enter(this.part);
    return search.interpolate(this.part);
  }

  /**
   * From where the position is shifted to; the shift at that place, which `search` has, is the first guess. An iteration
   * that leaves its part goes on in another one of the same grid; at the edge of all the guess is what there is, and so it
   * is in NADCON 5.
   */
  private goBack(search: GridSearch, xy: Float64Array, i: number): void {
    const { place, shift } = search;
    let part = this.part;
    let x0 = place[0]!;
    let y0 = place[1]!;
    place[0] = x0 - shift[0]!;
    place[1] = y0 - shift[1]!;
    let settled = search.isByParabolas(part);
    for (let round = 0; round < maxIterations && !settled; round++) {
      if (search.interpolate(part)) {
        const offX: number = place[0]! + shift[0]! - x0;
        const offY: number = place[1]! + shift[1]! - y0;
        place[0] = place[0]! - offX;
        place[1] = place[1]! - offY;
        settled = offX * offX + offY * offY <= convergenceSquared;
        continue;
      }
      search.leave(part);
      const other = search.find();
      settled = other < 0 || other === part;
      if (settled) search.enter(part);
      else {
        const guessX: number = place[0]!;
        const guessY: number = place[1]!;
        place[0] = xy[2 * i]!;
        place[1] = xy[2 * i + 1]!;
        search.enter(other);
        x0 = place[0]!;
        y0 = place[1]!;
        place[0] = guessX;
        place[1] = guessY;
        search.enter(other);
        part = other;
      }
    }
    search.leave(part);
    const longitude = place[0]!;
    xy[2 * i] = !settled
      ? Number.NaN
      : Math.abs(longitude) <= Math.PI
        ? longitude
        : longitude - twoPi * Math.round(longitude / twoPi);
    xy[2 * i + 1] = settled ? place[1]! : Number.NaN;
  }
}
