import { GeometryBuilder, type GeometryColumn, Kind, positionRange } from "../../../src/model/index.js";
import {
  crossesAntimeridian,
  type Ring,
  shiftIntoRange,
  splitLineAtMeridians,
  splitPolygonAtMeridians,
  unwrap,
} from "./meridian-split.js";

/** Longitudes beyond a hundred times around the world are treated as invalid. */
const maxLongitude = 36_000;

/**
 * Cuts lines and polygons that cross the antimeridian into several parts there (RFC 7946, section 3.1.9). Consecutive
 * longitudes that differ by more than 180° count as crossing, as do longitudes beyond ±180°; an edge from −180° to 180°
 * runs around the world. Returns the column itself if no geometry crosses.
 * @param reportUncut receives the number of lines and polygons left unchanged because they go more than a hundred times
 * around the world
 */
export function splitAtAntimeridian(column: GeometryColumn, reportUncut: (uncut: number) => void): GeometryColumn {
  if (!crossesAnywhere(column)) return column;
  const builder = new GeometryBuilder();
  let uncut = 0;
  for (let row = 0; row < column.length; row++) uncut += splitGeometry(column, row, builder);
  if (uncut > 0) reportUncut(uncut);
  return builder.finish();
}

function crossesAnywhere(column: GeometryColumn): boolean {
  const { xy, positionOffsets } = column;
  for (let r = 0; r + 1 < positionOffsets.length; r++)
    if (crosses(xy, positionOffsets[r]!, positionOffsets[r + 1]!)) return true;
  return column.members !== null && crossesAnywhere(column.members);
}

function crosses(xy: Float64Array, from: number, to: number): boolean {
  for (let k = from; k < to; k++) {
    if (Math.abs(xy[2 * k]!) > 180) return true;
    if (k > from && crossesAntimeridian(xy[2 * k - 2]!, xy[2 * k]!)) return true;
  }
  return false;
}

/** @returns how many lines and polygons cross but were left unchanged */
function splitGeometry(column: GeometryColumn, row: number, builder: GeometryBuilder): number {
  const kind = column.kinds[row]!;
  if (kind === Kind.GeometryCollection) {
    builder.begin(kind);
    const members = builder.beginMembers();
    const { memberOffsets } = column;
    let uncut = 0;
    for (let m = memberOffsets?.[row] ?? 0; m < (memberOffsets?.[row + 1] ?? 0); m++)
      uncut += splitGeometry(column.members!, m, members);
    builder.end();
    return uncut;
  }
  const lines = kind === Kind.LineString || kind === Kind.MultiLineString;
  const polygons = kind === Kind.Polygon || kind === Kind.MultiPolygon;
  const crosses = (lines || polygons) && rowCrosses(column, row);
  const isTooFar = crosses && exceedsMaxLongitude(column, row);
  if (!crosses || isTooFar) builder.copy(column, row);
  else if (lines) splitLines(column, row, builder);
  else splitPolygons(column, row, builder);
  return isTooFar ? 1 : 0;
}

function rowCrosses(column: GeometryColumn, row: number): boolean {
  const { partOffsets, ringOffsets, positionOffsets, xy } = column;
  for (let r = ringOffsets[partOffsets[row]!]!; r < ringOffsets[partOffsets[row + 1]!]!; r++) {
    if (crosses(xy, positionOffsets[r]!, positionOffsets[r + 1]!)) return true;
  }
  return false;
}

function exceedsMaxLongitude(column: GeometryColumn, row: number): boolean {
  const [from, to] = positionRange(column, row);
  for (let k = from; k < to; k++) if (Math.abs(column.xy[2 * k]!) > maxLongitude) return true;
  return false;
}

function ringsOf(column: GeometryColumn, part: number): Ring[] {
  const { ringOffsets, positionOffsets, xy, z } = column;
  const rings: Ring[] = [];
  for (let r = ringOffsets[part]!; r < ringOffsets[part + 1]!; r++) {
    const ring: Ring = [];
    for (let k = positionOffsets[r]!; k < positionOffsets[r + 1]!; k++) {
      ring.push([xy[2 * k]!, xy[2 * k + 1]!, z ? z[k]! : Number.NaN]);
    }
    rings.push(ring);
  }
  return rings;
}

function writeRing(builder: GeometryBuilder, ring: Ring): void {
  builder.beginRing();
  for (const [x, y, z] of ring) {
    if (Number.isNaN(z)) builder.addPosition(x, y);
    else builder.addPositionZM(x, y, z, Number.NaN);
  }
}

function splitLines(column: GeometryColumn, row: number, builder: GeometryBuilder): void {
  const pieces: Ring[] = [];
  for (let p = column.partOffsets[row]!; p < column.partOffsets[row + 1]!; p++) {
    for (const line of ringsOf(column, p)) pieces.push(...splitLineAtMeridians(unwrap(line)).map(shiftIntoRange));
  }
  const single = pieces.length === 1 && column.kinds[row] === Kind.LineString;
  builder.begin(single ? Kind.LineString : Kind.MultiLineString);
  builder.beginPart();
  for (const piece of pieces) writeRing(builder, piece);
  builder.end();
}

function splitPolygons(column: GeometryColumn, row: number, builder: GeometryBuilder): void {
  const pieces: Ring[][] = [];
  for (let p = column.partOffsets[row]!; p < column.partOffsets[row + 1]!; p++)
    pieces.push(...splitPolygonAtMeridians(ringsOf(column, p)));
  const single = pieces.length === 1 && column.kinds[row] === Kind.Polygon;
  builder.begin(single ? Kind.Polygon : Kind.MultiPolygon);
  for (const rings of pieces) {
    builder.beginPart();
    for (const ring of rings) writeRing(builder, ring);
  }
  builder.end();
}
