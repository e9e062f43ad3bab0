/**
 * Lines and rings that cross the edge of the map in a projection. Positions are transformed one by one, so that two
 * neighbors on both sides of the edge end at opposite sides of the map, and the line between them runs around the earth.
 */
import { type GeometryColumn, Kind } from "../../model/geometry.js";

/** A quarter of the equator in metres: no two neighbors in a source are so far apart unless they span the world. */
const quarterOfEquator = 1e7;
const metresPerDegree = 111_320;

const hasLines = (kind: number): boolean =>
  kind !== Kind.none && kind !== Kind.Point && kind !== Kind.MultiPoint && kind !== Kind.GeometryCollection;

/**
 * Continues longitudes beyond ±180° along each line and ring, in place, where neighbors in the projected source are close
 * but their longitudes differ by more than 180°. Holes follow their shell.
 * @param source the positions before the transformation
 */
export function unwrapLongitudes(source: GeometryColumn, target: GeometryColumn): void {
  for (let row = 0; row < target.length; row++) {
    if (!hasLines(target.kinds[row]!)) continue;
    const isPolygon = target.kinds[row] === Kind.Polygon || target.kinds[row] === Kind.MultiPolygon;
    for (let part = target.partOffsets[row]!; part < target.partOffsets[row + 1]!; part++) {
      const shell = target.ringOffsets[part]!;
      for (let ring = shell; ring < target.ringOffsets[part + 1]!; ring++) {
        const from = target.positionOffsets[ring]!;
        const to = target.positionOffsets[ring + 1]!;
        const isHole = isPolygon && ring > shell;
        unwrapRing(source.xy, target.xy, from, to, isHole ? target.positionOffsets[shell]! : -1);
      }
    }
  }
  if (source.members && target.members) unwrapLongitudes(source.members, target.members);
}

function unwrapRing(source: Float64Array, target: Float64Array, from: number, to: number, anchor: number): void {
  // A hole lies within its shell, which may be continued beyond 180°.
  let turn = 0;
  if (anchor >= 0 && from < to && isNear(source, anchor, from)) {
    const step = target[2 * from]! - target[2 * anchor]!;
    turn = step > 180 ? -360 : step < -180 ? 360 : 0;
  }
  let last = target[2 * from]!;
  if (turn !== 0) target[2 * from] = last + turn;
  for (let k = from + 1; k < to; k++) {
    const longitude = target[2 * k]!;
    const step = longitude - last;
    if ((step > 180 || step < -180) && isNear(source, k - 1, k)) turn += step > 0 ? -360 : 360;
    last = longitude;
    if (turn !== 0) target[2 * k] = longitude + turn;
  }
}

const isNear = (xy: Float64Array, a: number, b: number): boolean =>
  Math.abs(xy[2 * b]! - xy[2 * a]!) < quarterOfEquator && Math.abs(xy[2 * b + 1]! - xy[2 * a + 1]!) < quarterOfEquator;

/** The number of features of which a line or ring runs around the map, since it crosses the edge of the projected target. */
export function countWrappedFeatures(source: GeometryColumn, target: GeometryColumn): number {
  let count = 0;
  for (let row = 0; row < target.length; row++) {
    if (hasLines(target.kinds[row]!) && isWrapped(source, target, row)) count++;
  }
  return source.members && target.members ? count + countWrappedFeatures(source.members, target.members) : count;
}

function isWrapped(source: GeometryColumn, target: GeometryColumn, row: number): boolean {
  for (let part = target.partOffsets[row]!; part < target.partOffsets[row + 1]!; part++) {
    for (let ring = target.ringOffsets[part]!; ring < target.ringOffsets[part + 1]!; ring++) {
      const to = target.positionOffsets[ring + 1]!;
      for (let k = target.positionOffsets[ring]! + 1; k < to; k++) {
        const step = Math.abs(target.xy[2 * k]! - target.xy[2 * k - 2]!);
        if (step > quarterOfEquator && step > 4 * metresPerDegree * degreesBetween(source.xy, k)) return true;
      }
    }
  }
  return false;
}

/** The difference of a position from the one before, in degrees. */
const degreesBetween = (xy: Float64Array, k: number): number =>
  Math.hypot(xy[2 * k]! - xy[2 * k - 2]!, xy[2 * k + 1]! - xy[2 * k - 1]!);
