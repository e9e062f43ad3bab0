/**
 * Visits a geometry in a form that formats agree on: a multi-geometry of one part is that part, shells are
 * counterclockwise and holes clockwise (RFC 7946, 3.1.6), and a geometry without positions is none. Rings keep their
 * start, and parts their order.
 */
import { type GeometryColumn, Kind } from "../model/geometry.js";

export interface GeometryVisitor {
  /** @param count number of parts that follow, or of members of a collection */
  geometry(kind: number, count: number): void;
  /** @param count number of rings that follow */
  part(count: number): void;
  /** Positions `from` … `to` of the column, to be read backwards if `reversed`. */
  ring(column: GeometryColumn, from: number, to: number, reversed: boolean): void;
}

/** Whether the feature has no position. */
export function isEmptyGeometry(column: GeometryColumn, i: number): boolean {
  const kind = column.kinds[i]!;
  if (kind === Kind.none) return true;
  if (kind !== Kind.GeometryCollection) {
    const { partOffsets, ringOffsets, positionOffsets } = column;
    const first = positionOffsets[ringOffsets[partOffsets[i]!]!]!;
    return first === positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!;
  }
  const { members, memberOffsets } = column;
  if (!members || !memberOffsets) return true;
  for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) if (!isEmptyGeometry(members, k)) return false;
  return true;
}

const singleKinds: Readonly<Record<number, number>> = {
  [Kind.MultiPoint]: Kind.Point,
  [Kind.MultiLineString]: Kind.LineString,
  [Kind.MultiPolygon]: Kind.Polygon,
};

/** The kind after normalization; `Kind.none` for a geometry without positions. */
export function normalizedKind(column: GeometryColumn, i: number): number {
  if (isEmptyGeometry(column, i)) return Kind.none;
  const kind = column.kinds[i]!;
  const single = singleKinds[kind];
  if (single === undefined) return kind;
  const { partOffsets, ringOffsets, positionOffsets } = column;
  const [from, to] = [partOffsets[i]!, partOffsets[i + 1]!];
  if (kind === Kind.MultiPolygon) return to - from === 1 ? single : kind;
  const [firstRing, lastRing] = [ringOffsets[from]!, ringOffsets[to]!];
  if (kind === Kind.MultiLineString) return lastRing - firstRing === 1 ? single : kind;
  return positionOffsets[lastRing]! - positionOffsets[firstRing]! === 1 ? single : kind;
}

export function visitGeometry(column: GeometryColumn, i: number, visitor: GeometryVisitor): void {
  const kind = normalizedKind(column, i);
  if (kind === Kind.none) visitor.geometry(kind, 0);
  else if (kind === Kind.GeometryCollection) visitCollection(column, i, visitor);
  else {
    const { partOffsets, ringOffsets, positionOffsets } = column;
    const hasShells = kind === Kind.Polygon || kind === Kind.MultiPolygon;
    visitor.geometry(kind, partOffsets[i + 1]! - partOffsets[i]!);
    for (let part = partOffsets[i]!; part < partOffsets[i + 1]!; part++) {
      const [first, end] = [ringOffsets[part]!, ringOffsets[part + 1]!];
      visitor.part(end - first);
      for (let ring = first; ring < end; ring++) {
        const [from, to] = [positionOffsets[ring]!, positionOffsets[ring + 1]!];
        const area = hasShells ? signedArea(column.xy, from, to) : 0;
        const reversed = ring === first ? area < 0 : area > 0;
        visitor.ring(column, from, to, reversed);
      }
    }
  }
}

function visitCollection(column: GeometryColumn, i: number, visitor: GeometryVisitor): void {
  const { members, memberOffsets } = column;
  const filled: number[] = [];
  for (let k = memberOffsets![i]!; k < memberOffsets![i + 1]!; k++) if (!isEmptyGeometry(members!, k)) filled.push(k);
  visitor.geometry(Kind.GeometryCollection, filled.length);
  for (const k of filled) visitGeometry(members!, k, visitor);
}

/** Twice the area of a closed ring in squared units of the coordinates; positive if it is counterclockwise. */
function signedArea(xy: Float64Array, from: number, to: number): number {
  const [x0, y0] = [xy[2 * from]!, xy[2 * from + 1]!];
  let area = 0;
  for (let k = from + 1; k + 1 < to; k++)
    area += (xy[2 * k]! - x0) * (xy[2 * k + 3]! - y0) - (xy[2 * k + 2]! - x0) * (xy[2 * k + 1]! - y0);
  return area;
}
