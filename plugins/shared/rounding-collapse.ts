import { type GeometryColumn, Kind } from "../../src/model/geometry.js";
import type { PluginContext } from "../../src/plugin/format.js";

/** What rounding does to the geometries of a column. */
export interface CollapsedGeometries {
  /** Features with a line that becomes one place, or a ring that becomes a line or a place. */
  readonly count: number;
  /** The first of them, in words; empty where there is none. */
  readonly example: string;
}

const isRing = (kind: number): boolean => kind === Kind.Polygon || kind === Kind.MultiPolygon;
const isLine = (kind: number): boolean => kind === Kind.LineString || kind === Kind.MultiLineString;

/** Which features lose their extent when x and y are written with so many decimals; those without any do not count. */
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

/** Tells the loss `rounded-away` of a batch that is written so. */
export function reportCollapsedGeometries(
  column: GeometryColumn,
  decimals: number,
  context: Pick<PluginContext, "reportLoss">,
): void {
  const { count, example } = findCollapsedGeometries(column, decimals);
  if (count > 0) context.reportLoss("rounded-away", undefined, example, count);
}

class RoundingGrid {
  /** How far apart two numbers are at least that stay two for certain. */
  private readonly unit: number;

  constructor(private readonly decimals: number) {
    this.unit = 10 ** -decimals * (1 + 1e-6);
  }

  /** The first line or ring of the feature that collapses, in words; null where none does. */
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

  /** Most often the second position is far enough from the first. */
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
   * Whether all positions are on one line then. Most often the first three show that they are not: rounding changes
   * the cross product of two differences by less than `unit` times their lengths.
   */
  private ringCollapses(xy: Float64Array, from: number, to: number): boolean {
    const { unit } = this;
    const x = xy[2 * from]!;
    const y = xy[2 * from + 1]!;
    // The side from the first position, the longest so far: the base of the triangles that are looked at.
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
    // What had no area but for the last digits of its numbers has lost none.
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

  /** The number as it is written, counted in its last decimal. */
  private units(value: number): bigint {
    return Math.abs(value) < 1e21 ? BigInt(value.toFixed(this.decimals).replace(".", "")) : BigInt(value);
  }
}
