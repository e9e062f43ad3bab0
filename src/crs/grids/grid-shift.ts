import type { Grid } from "./grid.js";
import { GridSearch } from "./grid-search.js";

const twoPi = 2 * Math.PI;

/** Maximum iterations of the inverse, and its squared tolerance in radians (PROJ's values). */
const maxIterations = 10;
const convergenceSquared = 1e-24;

/**
 * Shifts positions by the first grid that contains them. Interpolation is bilinear and the inverse iterative, as in PROJ's
 * `hgridshift`, or for NADCON 5 as in its `gridshift`. Use one instance per thread: it keeps state between its steps to
 * avoid allocations.
 */
export class GridShift {
  private readonly searches: readonly (GridSearch | null)[];
  /** Result of the last search: the grid, −1 if there is none, and its part, −1 for a grid without shifts. */
  private gridIndex = -1;
  private partIndex = -1;

  /** @param grids null means no shift, for any position */
  constructor(
    grids: readonly (Grid | null)[],
    private readonly inverse: boolean,
  ) {
    this.searches = grids.map((grid) => grid && new GridSearch(grid));
  }

  /** Shifts position `i` (radians) in place; NaN if no grid contains it. */
  apply(xy: Float64Array, i: number): void {
    this.findGrid(xy, i);
    const search = this.gridIndex < 0 ? null : this.searches[this.gridIndex]!;
    if (this.gridIndex >= 0 && search === null) return;
    if (search === null || !this.interpolateAt(search, xy, i)) {
      xy[2 * i] = Number.NaN;
      xy[2 * i + 1] = Number.NaN;
    } else if (this.inverse) this.applyInverse(search, xy, i);
    else {
      xy[2 * i] = xy[2 * i]! + search.shift[0]!;
      xy[2 * i + 1] = xy[2 * i + 1]! + search.shift[1]!;
    }
  }

  private findGrid(xy: Float64Array, i: number): void {
    for (let k = 0; k < this.searches.length; k++) {
      const search = this.searches[k]!;
      this.gridIndex = k;
      this.partIndex = -1;
      if (search === null) return;
      search.position[0] = xy[2 * i]!;
      search.position[1] = xy[2 * i + 1]!;
      this.partIndex = search.findPart();
      if (this.partIndex >= 0) return;
    }
    this.gridIndex = -1;
  }

  private interpolateAt(search: GridSearch, xy: Float64Array, i: number): boolean {
    search.position[0] = xy[2 * i]!;
    search.position[1] = xy[2 * i + 1]!;
    search.toPartCoordinates(this.partIndex);
    return search.interpolate(this.partIndex);
  }

  /**
   * Inverts the shift by iteration, starting with the shift at the position, which `search` has. An iteration that leaves
   * its part continues in another part of the same grid; outside all parts, and for NADCON 5, the first guess is used.
   */
  private applyInverse(search: GridSearch, xy: Float64Array, i: number): void {
    const { position, shift } = search;
    let part = this.partIndex;
    let x0 = position[0]!;
    let y0 = position[1]!;
    position[0] = x0 - shift[0]!;
    position[1] = y0 - shift[1]!;
    let settled = search.usesBiquadratic(part);
    for (let round = 0; round < maxIterations && !settled; round++) {
      if (search.interpolate(part)) {
        const offX: number = position[0]! + shift[0]! - x0;
        const offY: number = position[1]! + shift[1]! - y0;
        position[0] = position[0]! - offX;
        position[1] = position[1]! - offY;
        settled = offX * offX + offY * offY <= convergenceSquared;
        continue;
      }
      search.fromPartCoordinates(part);
      const other = search.findPart();
      settled = other < 0 || other === part;
      if (settled) search.toPartCoordinates(part);
      else {
        const guessX: number = position[0]!;
        const guessY: number = position[1]!;
        position[0] = xy[2 * i]!;
        position[1] = xy[2 * i + 1]!;
        search.toPartCoordinates(other);
        x0 = position[0]!;
        y0 = position[1]!;
        position[0] = guessX;
        position[1] = guessY;
        search.toPartCoordinates(other);
        part = other;
      }
    }
    search.fromPartCoordinates(part);
    const longitude = position[0]!;
    xy[2 * i] = !settled
      ? Number.NaN
      : Math.abs(longitude) <= Math.PI
        ? longitude
        : longitude - twoPi * Math.round(longitude / twoPi);
    xy[2 * i + 1] = settled ? position[1]! : Number.NaN;
  }
}
