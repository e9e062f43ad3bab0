/**
 * Lines and rings of too few positions. A LineString has two or more, a linear ring four or more and ends where it
 * begins (RFC 7946, 3.1.4 and 3.1.6; OGC 06-103r4, 6.1.7 and 6.1.11; so too the Shapefile Technical Description, KML
 * and GeoPackage).
 */
import { type GeometryColumn, Kind } from "./geometry.js";
import type { GeometryBuilder } from "./geometry-builder.js";

const minRingPositions = 4;

const isLineal = (kind: number): boolean => kind === Kind.LineString || kind === Kind.MultiLineString;
const isPolygonal = (kind: number): boolean => kind === Kind.Polygon || kind === Kind.MultiPolygon;

/** Requirements of a target for geometries. */
export interface GeometryRequirements {
  /** Minimum number of positions of a line. */
  readonly minLinePositions: number;
  /** Whether the last position of a ring must have the height of the first one. */
  readonly closesRingsInZ: boolean;
  /** Whether parts with positions that are not finite are removed like degenerate ones. */
  readonly requiresFinite?: boolean;
}

/** Whether a position of these has an x or y that is not finite, or an infinite height. */
function hasNonFinite({ xy, z }: GeometryColumn, from: number, to: number): boolean {
  for (let k = from; k < to; k++) {
    if (!Number.isFinite(xy[2 * k]!) || !Number.isFinite(xy[2 * k + 1]!)) return true;
    if (z !== null && Math.abs(z[k]!) === Number.POSITIVE_INFINITY) return true;
  }
  return false;
}

/** Whether ring r ends where it begins. */
function isClosed({ positionOffsets, xy }: GeometryColumn, r: number): boolean {
  const first = 2 * positionOffsets[r]!;
  const last = 2 * positionOffsets[r + 1]! - 2;
  return xy[first] === xy[last] && xy[first + 1] === xy[last + 1];
}

/** Whether ring r ends at the height that it begins at; no height is one of its own. */
function isClosedInZ({ positionOffsets, z }: GeometryColumn, r: number): boolean {
  return z === null || Object.is(z[positionOffsets[r]!]! + 0, z[positionOffsets[r + 1]! - 1]! + 0);
}

/**
 * Whether every line has `minLinePositions` positions, and every ring four and its end at its beginning, members of
 * collections included. It only reads the ends of each ring.
 */
export function meetsRequirements(column: GeometryColumn, needs: GeometryRequirements): boolean {
  const { kinds, partOffsets } = column;
  for (let i = 0; i < column.length; i++) {
    const polygonal = isPolygonal(kinds[i]!);
    if (!polygonal && !isLineal(kinds[i]!)) continue;
    const to = partOffsets[i + 1]!;
    for (let p = partOffsets[i]!; p < to; p++) {
      if (polygonal ? !polygonMeetsRequirements(column, p, needs) : !linesMeetRequirements(column, p, needs))
        return false;
    }
  }
  return column.members === null || meetsRequirements(column.members, needs);
}

function linesMeetRequirements(
  { ringOffsets, positionOffsets }: GeometryColumn,
  p: number,
  { minLinePositions }: GeometryRequirements,
): boolean {
  const to = ringOffsets[p + 1]!;
  for (let r = ringOffsets[p]!; r < to; r++) {
    if (positionOffsets[r + 1]! - positionOffsets[r]! < minLinePositions) return false;
  }
  return true;
}

function polygonMeetsRequirements(
  column: GeometryColumn,
  p: number,
  { closesRingsInZ }: GeometryRequirements,
): boolean {
  const { ringOffsets, positionOffsets } = column;
  const from = ringOffsets[p]!;
  const to = ringOffsets[p + 1]!;
  for (let r = from; r < to; r++) {
    if (positionOffsets[r + 1]! - positionOffsets[r]! < minRingPositions || !isClosed(column, r)) return false;
    if (closesRingsInZ && !isClosedInZ(column, r)) return false;
  }
  return to > from;
}

/** Copies features without their degenerate parts. */
export class DegeneratePartFilter {
  /** Removed lines, holes, polygons and members of collections, of features that were not rejected. */
  dropped = 0;
  /** Removed lines, rings and polygons without positions. */
  empty = 0;
  /** Rings that were closed. */
  closed = 0;
  /** Description of the first removed part. */
  example = "";
  private defect = "";

  constructor(private readonly requirements: GeometryRequirements) {}

  /** Adds feature `i`; if nothing of it is left, adds nothing and returns the reason. */
  add(column: GeometryColumn, i: number, builder: GeometryBuilder): string | null {
    const { dropped, empty, closed } = this;
    this.defect = "";
    const kind = column.kinds[i]!;
    builder.begin(kind);
    let left = true;
    if (kind === Kind.GeometryCollection) left = this.addMembers(column, i, builder);
    else if (isPolygonal(kind)) left = this.addPolygons(column, i, builder);
    else if (isLineal(kind)) left = this.addLines(column, i, builder);
    else if (this.requirements.requiresFinite) left = this.addPoints(column, i, builder);
    else for (let p = column.partOffsets[i]!; p < column.partOffsets[i + 1]!; p++) builder.copyPart(column, p);
    if (left || this.dropped === dropped) {
      builder.end();
      if (dropped === 0 && this.dropped > 0) this.example = this.defect;
      return null;
    }
    builder.cancel();
    Object.assign(this, { dropped, empty, closed });
    return this.defect;
  }

  /** Whether a ring or line has a position that is not allowed. */
  private isRejected(column: GeometryColumn, r: number): boolean {
    const { positionOffsets } = column;
    return (
      this.requirements.requiresFinite === true && hasNonFinite(column, positionOffsets[r]!, positionOffsets[r + 1]!)
    );
  }

  private addPoints(column: GeometryColumn, i: number, builder: GeometryBuilder): boolean {
    const { partOffsets, ringOffsets, positionOffsets } = column;
    const from = positionOffsets[ringOffsets[partOffsets[i]!]!]!;
    const to = positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!;
    let left = false;
    for (let k = from; k < to; k++) {
      if (hasNonFinite(column, k, k + 1)) {
        this.dropped++;
        this.defect ||= `the position ${column.xy[2 * k]} ${column.xy[2 * k + 1]}`;
        continue;
      }
      if (!left) {
        builder.beginPart();
        builder.beginRing();
      }
      left = true;
      builder.copyPositions(column, k, k + 1);
    }
    return left;
  }

  private drop(column: GeometryColumn, r: number, what: string): void {
    this.dropped++;
    const at = column.positionOffsets[r]!;
    const count = column.positionOffsets[r + 1]! - at;
    const where = `${column.xy[2 * at]} ${column.xy[2 * at + 1]}`;
    if (this.isRejected(column, r)) this.defect ||= `a ${what} with a position that is not finite`;
    this.defect ||= `a ${what} of ${count === 1 ? "one position" : `${count} positions`} at ${where}`;
  }

  private addMembers(column: GeometryColumn, i: number, builder: GeometryBuilder): boolean {
    const { members, memberOffsets } = column;
    const into = builder.beginMembers();
    if (!members || !memberOffsets) return false;
    let left = false;
    let { defect } = this;
    for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) {
      const reason = this.add(members, k, into);
      defect ||= this.defect;
      if (reason === null) left = true;
      else this.dropped++;
    }
    this.defect = defect;
    return left;
  }

  private addLines(column: GeometryColumn, i: number, builder: GeometryBuilder): boolean {
    const { partOffsets, ringOffsets, positionOffsets } = column;
    let left = false;
    const to = ringOffsets[partOffsets[i + 1]!]!;
    for (let r = ringOffsets[partOffsets[i]!]!; r < to; r++) {
      const count = positionOffsets[r + 1]! - positionOffsets[r]!;
      if (count === 0) this.empty++;
      else if (count < this.requirements.minLinePositions || this.isRejected(column, r)) this.drop(column, r, "line");
      else {
        if (!left) builder.beginPart();
        left = true;
        builder.copyRing(column, r);
      }
    }
    return left;
  }

  private addPolygons(column: GeometryColumn, i: number, builder: GeometryBuilder): boolean {
    let left = false;
    for (let p = column.partOffsets[i]!; p < column.partOffsets[i + 1]!; p++) {
      if (this.addPolygon(column, p, builder)) left = true;
    }
    return left;
  }

  /** Adds a polygon; without a valid shell it is removed. */
  private addPolygon(column: GeometryColumn, p: number, builder: GeometryBuilder): boolean {
    const shell = column.ringOffsets[p]!;
    const to = column.ringOffsets[p + 1]!;
    if (shell === to || column.positionOffsets[shell] === column.positionOffsets[shell + 1]) {
      this.empty++;
      return false;
    }
    for (let r = shell; r < to; r++) {
      const count = column.positionOffsets[r + 1]! - column.positionOffsets[r]!;
      const closed = count > 1 && isClosed(column, r);
      if (count === 0) this.empty++;
      else if (count + (closed ? 0 : 1) < minRingPositions || this.isRejected(column, r)) {
        this.drop(column, r, "ring");
        if (r === shell) return false;
      } else {
        if (r === shell) builder.beginPart();
        const open = !closed || (this.requirements.closesRingsInZ && !isClosedInZ(column, r));
        if (!open) builder.copyRing(column, r);
        else this.close(column, r, builder, closed);
      }
    }
    return true;
  }

  /** Closes a ring with its first position; replaces the last one if only the height differs. */
  private close(column: GeometryColumn, r: number, builder: GeometryBuilder, closed: boolean): void {
    const first = column.positionOffsets[r]!;
    const end = column.positionOffsets[r + 1]!;
    const lacksHeight = closed && Number.isNaN(column.z?.[end - 1]);
    builder.beginRing();
    builder.copyPositions(column, first, lacksHeight ? end - 1 : end);
    builder.copyPositions(column, first, first + 1);
    this.closed++;
  }
}
