import { type GeometryColumn, Kind } from "../../src/model/geometry.js";
import type { PluginContext } from "../../src/plugin/format.js";

/** The effect of rounding on the geometries of a column. */
export interface CollapsedGeometries {
  /** Features with a line that collapses to one position, or a ring that collapses to a line or a position. */
  readonly count: number;
  /** Describes the first of them; empty if there is none. */
  readonly example: string;
}

const isRing = (kind: number): boolean => kind === Kind.Polygon || kind === Kind.MultiPolygon;
const isLine = (kind: number): boolean => kind === Kind.LineString || kind === Kind.MultiLineString;

/**
 * Finds the features that lose their extent when x and y are written with this number of decimals; ignores those
 * without an extent.
 */
export function findCollapsedGeometries(column: GeometryColumn, decimals: number): CollapsedGeometries {
  const rounding = new RoundingGrid(decimals);
  let count = 0;
  let example = "";
  for (let row = 0; row < column.length; row++) {
    const found = rounding.collapsed(column, row);
    if (found === null) continue;
    if (count++ === 0) example = found;
  }
  return { count, example };
}

/** Reports the loss `rounded-away` for a batch. */
export function reportCollapsedGeometries(
  column: GeometryColumn,
  decimals: number,
  context: Pick<PluginContext, "reportLoss">,
): void {
  const { count, example } = findCollapsedGeometries(column, decimals);
  if (count > 0) context.reportLoss("rounded-away", undefined, example, count);
}

class RoundingGrid {
  /** Minimum distance at which two numbers certainly stay different. */
  private readonly unit: number;

  constructor(private readonly decimals: number) {
    this.unit = 10 ** -decimals * (1 + 1e-6);
  }

  /** Describes the first line or ring of the feature that collapses; null if none does. */
  collapsed(column: GeometryColumn, row: number): string | null {
    const kind = column.kinds[row]!;
    if (kind === Kind.GeometryCollection) return this.collapsedMember(column, row);
    const ring = isRing(kind);
    if (!ring && !isLine(kind)) return null;
    const { partOffsets, ringOffsets, positionOffsets, xy } = column;
    const to = ringOffsets[partOffsets[row + 1]!]!;
    for (let r = ringOffsets[partOffsets[row]!]!; r < to; r++) {
      const first = positionOffsets[r]!;
      const end = positionOffsets[r + 1]!;
      if (ring ? !this.ringCollapses(xy, first, end) : !this.lineCollapses(xy, first, end)) continue;
      const became = ring ? "a ring lost its area" : "a line became one place";
      return `${became} at ${xy[2 * first]} ${xy[2 * first + 1]}: ${this.decimals} decimals cannot tell its positions apart`;
    }
    return null;
  }

  private collapsedMember(column: GeometryColumn, row: number): string | null {
    const { members, memberOffsets } = column;
    if (!members || !memberOffsets) return null;
    for (let k = memberOffsets[row]!; k < memberOffsets[row + 1]!; k++) {
      const found = this.collapsed(members, k);
      if (found !== null) return found;
    }
    return null;
  }

  /** In most lines, the second position is already far enough from the first. */
  private lineCollapses(xy: Float64Array, from: number, to: number): boolean {
    const { unit } = this;
    const x = xy[2 * from]!;
    const y = xy[2 * from + 1]!;
    let moves = false;
    for (let k = from + 1; k < to; k++) {
      const dx = Math.abs(xy[2 * k]! - x);
      const dy = Math.abs(xy[2 * k + 1]! - y);
      if (!(dx <= unit && dy <= unit)) return false;
      if (dx > 0 || dy > 0) moves = true;
    }
    return moves && this.isOnePlace(xy, from, to);
  }

  private isOnePlace(xy: Float64Array, from: number, to: number): boolean {
    const x = xy[2 * from]!.toFixed(this.decimals);
    const y = xy[2 * from + 1]!.toFixed(this.decimals);
    for (let k = from + 1; k < to; k++) {
      if (xy[2 * k]!.toFixed(this.decimals) !== x || xy[2 * k + 1]!.toFixed(this.decimals) !== y) return false;
    }
    return true;
  }

  /**
   * Whether rounding places all positions on one line. In most rings the first three positions show that it does not:
   * rounding changes the cross product of two differences by less than `unit` times their lengths.
   */
  private ringCollapses(xy: Float64Array, from: number, to: number): boolean {
    const { unit } = this;
    const x = xy[2 * from]!;
    const y = xy[2 * from + 1]!;
    // The longest side from the first position so far: the base of the triangles tested.
    let ax = 0;
    let ay = 0;
    let area = 0;
    let span = 0;
    for (let k = from + 1; k < to; k++) {
      const bx = xy[2 * k]! - x;
      const by = xy[2 * k + 1]! - y;
      const cross = Math.abs(ax * by - ay * bx);
      const size = Math.abs(bx) + Math.abs(by);
      const base = Math.abs(ax) + Math.abs(ay);
      if (!(cross <= unit * (base + size + 2 * unit))) return false;
      area = Math.max(area, cross);
      span = Math.max(span, size);
      if (size > base) {
        ax = bx;
        ay = by;
      }
    }
    // A ring whose area is only noise in the last digits has no area to lose.
    return area > 1e-12 * span * span && this.isOnOneLine(xy, from, to);
  }

  private isOnOneLine(xy: Float64Array, from: number, to: number): boolean {
    const x = this.units(xy[2 * from]!);
    const y = this.units(xy[2 * from + 1]!);
    let ax = 0n;
    let ay = 0n;
    for (let k = from + 1; k < to; k++) {
      const bx = this.units(xy[2 * k]!) - x;
      const by = this.units(xy[2 * k + 1]!) - y;
      if (ax * by !== ay * bx) return false;
      if (ax === 0n && ay === 0n) [ax, ay] = [bx, by];
    }
    return true;
  }

  /** The number as written, in units of its last decimal. */
  private units(value: number): bigint {
    return Math.abs(value) < 1e21 ? BigInt(value.toFixed(this.decimals).replace(".", "")) : BigInt(value);
  }
}
