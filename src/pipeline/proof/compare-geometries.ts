/**
 * Compares geometries as they were written with those that were read back. Those with equal positions in the same order, or
 * with rings that turn the other way, are found here; all others are compared by their digests.
 */
import { normalizedKind } from "../../canonical/normalize-geometry.js";
import { type GeometryColumn, Kind } from "../../model/geometry.js";
import type { Differences, RowRange } from "./compare-columns.js";
import { hasEqualBits, hasEqualLengths } from "./equal-ranges.js";
import { hashGeometry } from "./hash-batch.js";
import type { ProofRules } from "./proof-rules.js";
import { unitsOf } from "./units-of.js";

const isSame = (one: number, other: number): boolean => one === other || (Number.isNaN(one) && Number.isNaN(other));

class GeometryComparison {
  private readonly scale: number;
  private readonly heightScale: number;

  constructor(
    private readonly one: GeometryColumn,
    private readonly other: GeometryColumn,
    private readonly rules: ProofRules,
  ) {
    const { xy, z } = rules.decimals;
    this.scale = 10 ** (xy ?? 0);
    this.heightScale = 10 ** (z ?? 0);
  }

  private isSameRounded(value: number, other: number, decimals: number | null, scale: number): boolean {
    if (isSame(value, other)) return true;
    return decimals !== null && isSame(unitsOf(value, decimals, scale), unitsOf(other, decimals, scale));
  }

  private hasSamePosition(k: number, n: number): boolean {
    const { one, other, scale, heightScale } = this;
    const { xy, z } = this.rules.decimals;
    if (
      !this.isSameRounded(one.xy[2 * k]!, other.xy[2 * n]!, xy, scale) ||
      !this.isSameRounded(one.xy[2 * k + 1]!, other.xy[2 * n + 1]!, xy, scale)
    )
      return false;
    if (
      (one.z !== null || other.z !== null) &&
      !this.isSameRounded(one.z?.[k] ?? Number.NaN, other.z?.[n] ?? Number.NaN, z, heightScale)
    )
      return false;
    return one.m === other.m || isSame(one.m?.[k] ?? Number.NaN, other.m?.[n] ?? Number.NaN);
  }

  /** @param step −1 reads the ring of the other side backwards */
  private hasSamePositions(from: number, to: number, otherFrom: number, step: 1 | -1): boolean {
    for (let k = from, n = otherFrom; k < to; k++, n += step) if (!this.hasSamePosition(k, n)) return false;
    return true;
  }

  private hasSameRing(ring: number, otherRing: number, mayTurn: boolean): boolean {
    const [from, to] = [this.one.positionOffsets[ring]!, this.one.positionOffsets[ring + 1]!];
    const [start, end] = [this.other.positionOffsets[otherRing]!, this.other.positionOffsets[otherRing + 1]!];
    if (to - from !== end - start) return false;
    if (this.hasSamePositions(from, to, start, 1)) return true;
    return mayTurn && this.hasSamePositions(from, to, end - 1, -1);
  }

  private hasSameParts(row: number, otherRow: number): boolean {
    const { one, other } = this;
    const [part, otherPart] = [one.partOffsets[row]!, other.partOffsets[otherRow]!];
    const parts = one.partOffsets[row + 1]! - part;
    if (other.partOffsets[otherRow + 1]! - otherPart !== parts) return false;
    const kind = one.kinds[row];
    const mayTurn = kind === Kind.Polygon || kind === Kind.MultiPolygon;
    for (let p = 0; p < parts; p++) {
      const [ring, otherRing] = [one.ringOffsets[part + p]!, other.ringOffsets[otherPart + p]!];
      const rings = one.ringOffsets[part + p + 1]! - ring;
      if (other.ringOffsets[otherPart + p + 1]! - otherRing !== rings) return false;
      for (let r = 0; r < rings; r++) if (!this.hasSameRing(ring + r, otherRing + r, mayTurn)) return false;
    }
    return true;
  }

  /** Whether all rows have the same kinds, numbers of parts, rings and positions, and the same positions. */
  areAllEqual({ from, readFrom, count }: RowRange): boolean {
    const { one, other } = this;
    if (!hasEqualBits(one.kinds, from, other.kinds, readFrom, count)) return false;
    if (!hasEqualLengths(one.partOffsets, from, other.partOffsets, readFrom, count)) return false;
    const [part, otherPart] = [one.partOffsets[from]!, other.partOffsets[readFrom]!];
    const parts = one.partOffsets[from + count]! - part;
    if (!hasEqualLengths(one.ringOffsets, part, other.ringOffsets, otherPart, parts)) return false;
    const [ring, otherRing] = [one.ringOffsets[part]!, other.ringOffsets[otherPart]!];
    const rings = one.ringOffsets[part + parts]! - ring;
    if (!hasEqualLengths(one.positionOffsets, ring, other.positionOffsets, otherRing, rings)) return false;
    if (one.members !== null || other.members !== null) return false;
    const [first, end] = [one.positionOffsets[ring]!, one.positionOffsets[ring + rings]!];
    const otherFirst = other.positionOffsets[otherRing]!;
    const isFlat = one.z === null && other.z === null && one.m === null && other.m === null;
    if (isFlat && hasEqualBits(one.xy, 2 * first, other.xy, 2 * otherFirst, 2 * (end - first))) return true;
    return this.hasSamePositions(first, end, otherFirst, 1);
  }

  isEqual(row: number, otherRow: number): boolean {
    const { one, other, rules } = this;
    const [kind, otherKind] = [one.kinds[row]!, other.kinds[otherRow]!];
    if (kind !== otherKind) {
      if (!rules.singleIsMulti || normalizedKind(one, row) !== normalizedKind(other, otherRow)) return false;
    }
    return (
      kind !== Kind.GeometryCollection && otherKind !== Kind.GeometryCollection && this.hasSameParts(row, otherRow)
    );
  }
}

/** Marks the rows whose geometries differ. */
export function compareGeometries(
  one: GeometryColumn,
  other: GeometryColumn,
  range: RowRange,
  rules: ProofRules,
  differences: Differences,
): void {
  const comparison = new GeometryComparison(one, other, rules);
  if (comparison.areAllEqual(range)) return;
  const { from, readFrom, count } = range;
  for (let n = 0; n < count; n++) {
    if (comparison.isEqual(from + n, readFrom + n)) continue;
    const digest = hashGeometry(one, from + n, rules);
    if (!digest.equals(hashGeometry(other, readFrom + n, rules))) differences[n] = 1;
  }
}
