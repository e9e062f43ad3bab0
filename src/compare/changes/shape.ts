import { type GeometryVisitor, visitGeometry } from "../../canonical/normalize-geometry.js";
import { type ComparisonRules, heightDecimals } from "../../canonical/rules.js";
import { type GeometryColumn, Kind } from "../../model/geometry.js";

/** A normalized geometry as flat numbers. */
export interface Shape {
  /** Kind, and numbers of parts, rings and positions, in reading order; equal for shapes of the same structure. */
  readonly structure: readonly number[];
  /** Interleaved x and y. */
  readonly xy: Float64Array;
  /** Heights and measures, NaN if a position has none. */
  readonly z: Float64Array;
  readonly m: Float64Array;
  /** Start of each ring in positions, and the end of the last one. */
  readonly rings: readonly number[];
}

class ShapeBuilder implements GeometryVisitor {
  readonly structure: number[] = [];
  readonly rings: number[] = [0];
  readonly xy: number[] = [];
  readonly z: number[] = [];
  readonly m: number[] = [];

  geometry(kind: number, count: number): void {
    this.structure.push(kind, count);
  }

  part(count: number): void {
    this.structure.push(count);
  }

  ring(column: GeometryColumn, from: number, to: number, reversed: boolean): void {
    this.structure.push(to - from);
    for (let n = from, k = reversed ? to - 1 : from; n < to; n++, k += reversed ? -1 : 1) {
      this.xy.push(column.xy[2 * k]!, column.xy[2 * k + 1]!);
      this.z.push(column.z ? column.z[k]! : Number.NaN);
      this.m.push(column.m ? column.m[k]! : Number.NaN);
    }
    this.rings.push(this.z.length);
  }
}

/** The shape of a feature; null if it has no position. */
export function shapeOf(column: GeometryColumn, row: number): Shape | null {
  const builder = new ShapeBuilder();
  visitGeometry(column, row, builder);
  if (builder.structure[0] === Kind.none) return null;
  const { structure, rings, xy, z, m } = builder;
  return { structure, rings, xy: Float64Array.from(xy), z: Float64Array.from(z), m: Float64Array.from(m) };
}

export const hasSameStructure = (one: Shape, other: Shape): boolean =>
  one.structure.length === other.structure.length && one.structure.every((number, i) => number === other.structure[i]);

/** Half a unit of the last decimal, with a margin for numbers that are a rounding error away from it. */
const toleranceOf = (decimals: number): number => 0.5 * 10 ** -decimals * (1 + 1e-6);

/**
 * Whether both are equal although their coordinates round to different numbers: no coordinate differs by more than half
 * a unit of the last decimal.
 */
export function isSameShape(one: Shape | null, other: Shape | null, rules: ComparisonRules): boolean {
  if (one === null || other === null) return one === other;
  if (!hasSameStructure(one, other)) return false;
  const { ignoresHeights, ignoresMeasures } = rules;
  return (
    areClose(one.xy, other.xy, toleranceOf(rules.decimals)) &&
    (ignoresHeights || areClose(one.z, other.z, toleranceOf(heightDecimals))) &&
    (ignoresMeasures || areClose(one.m, other.m, 0))
  );
}

function areClose(one: Float64Array, other: Float64Array, tolerance: number): boolean {
  for (let i = 0; i < one.length; i++) {
    const difference = Math.abs(one[i]! - other[i]!);
    if (difference <= tolerance || (Number.isNaN(one[i]!) && Number.isNaN(other[i]!))) continue;
    // Rounding in binary makes large coordinates differ in their last digits.
    if (difference <= tolerance + Math.abs(one[i]!) * 4 * Number.EPSILON && tolerance > 0) continue;
    return false;
  }
  return true;
}
