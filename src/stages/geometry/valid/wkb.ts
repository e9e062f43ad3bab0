import { type GeometryColumn, Kind, positionRange } from "../../../model/geometry.js";
import type { GeometryBuilder } from "../../../model/geometry-builder.js";

/*
 * Well-known binary (OGC 06-103r4, clause 8) between the packed columns and GEOS: lines and polygons only, two or
 * three dimensions, little endian.
 */

/** ISO numbers three-dimensional types from 1000; GEOS's extended flavor sets this bit instead. */
const ewkbZFlag = 0x80000000;

function hasZ(column: GeometryColumn, row: number): boolean {
  const { z } = column;
  if (!z) return false;
  const [from, to] = positionRange(column, row);
  for (let k = from; k < to; k++) if (!Number.isNaN(z[k]!)) return true;
  return false;
}

/** Room enough for the WKB of feature `row`, in bytes, and what writes it there. */
export function wkbWriter(
  column: GeometryColumn,
  row: number,
): { size: number; write: (view: DataView, offset: number) => void } {
  const { kinds, partOffsets, ringOffsets, positionOffsets, xy, z } = column;
  const kind = kinds[row]!;
  const three = hasZ(column, row);
  const firstPart = partOffsets[row]!;
  const lastPart = partOffsets[row + 1]!;
  const [from, to] = positionRange(column, row);
  const rings = ringOffsets[lastPart]! - ringOffsets[firstPart]!;
  const polygonal = kind === Kind.Polygon || kind === Kind.MultiPolygon;
  const size = (to - from) * (three ? 24 : 16) + rings * (polygonal ? 4 : 9) + (lastPart - firstPart) * 9 + 18;

  const write = (view: DataView, offset: number) => {
    let at = offset;
    const header = (type: number) => {
      view.setUint8(at, 1);
      view.setUint32(at + 1, three ? type + 1000 : type, true);
      at += 5;
    };
    const count = (value: number) => {
      view.setUint32(at, value, true);
      at += 4;
    };
    const positions = (r: number) => {
      const end = positionOffsets[r + 1]!;
      count(end - positionOffsets[r]!);
      for (let k = positionOffsets[r]!; k < end; k++) {
        view.setFloat64(at, xy[2 * k]!, true);
        view.setFloat64(at + 8, xy[2 * k + 1]!, true);
        if (three) view.setFloat64(at + 16, z![k]!, true);
        at += three ? 24 : 16;
      }
    };
    const polygon = (p: number) => {
      header(Kind.Polygon);
      count(ringOffsets[p + 1]! - ringOffsets[p]!);
      for (let r = ringOffsets[p]!; r < ringOffsets[p + 1]!; r++) positions(r);
    };
    const line = (r: number) => {
      header(Kind.LineString);
      positions(r);
    };

    if (kind === Kind.Polygon) polygon(firstPart);
    else if (kind === Kind.LineString) line(ringOffsets[firstPart]!);
    else {
      header(kind);
      count(polygonal ? lastPart - firstPart : rings);
      if (polygonal) for (let p = firstPart; p < lastPart; p++) polygon(p);
      else for (let r = ringOffsets[firstPart]!; r < ringOffsets[lastPart]!; r++) line(r);
    }
  };
  return { size, write };
}

/** Where a line or polygon stands in some WKB: its body, after byte order and type. */
interface WkbPart {
  readonly kind: number;
  readonly hasZ: boolean;
  readonly bodyOffset: number;
}

/** The single lines and polygons in WKB, however nested, and whether there is anything of another dimension. */
export interface WkbParts {
  readonly matching: readonly WkbPart[];
  readonly hasOthers: boolean;
}

/** Finds the lines and polygons of the kind `wanted` (LineString or Polygon) in the geometry at `offset`. */
export function findParts(view: DataView, offset: number, wanted: number): WkbParts {
  const found: WkbPart[] = [];
  let hasOthers = false;
  let at = offset;

  const geometry = () => {
    const type = view.getUint32(at + 1, true);
    const hasZ = (type & ewkbZFlag) !== 0 || (type & 0xffff) > 1000;
    const kind = (type & 0xffff) % 1000;
    const stride = hasZ ? 24 : 16;
    at += 5;
    const bodyOffset = at;
    if (kind === Kind.Point) at += stride;
    else if (kind === Kind.LineString) at += 4 + view.getUint32(at, true) * stride;
    else {
      const count = view.getUint32(at, true);
      at += 4;
      for (let i = 0; i < count; i++) {
        if (kind === Kind.Polygon) at += 4 + view.getUint32(at, true) * stride;
        else geometry();
      }
    }
    // An empty line or polygon begins with a count of 0.
    const single = kind <= Kind.Polygon;
    if (single && kind === wanted && view.getUint32(bodyOffset, true) > 0) found.push({ kind, hasZ, bodyOffset });
    else if (single && kind !== wanted) hasOthers ||= kind === Kind.Point || view.getUint32(bodyOffset, true) > 0;
  };

  geometry();
  return { matching: found, hasOthers };
}

/** Adds the rings of a polygon, or the line, to the part that is open in `builder`. */
export function addPart(view: DataView, part: WkbPart, builder: GeometryBuilder): void {
  let at = part.bodyOffset;
  const ring = () => {
    const count = view.getUint32(at, true);
    at += 4;
    builder.beginRing();
    for (let i = 0; i < count; i++) {
      const x = view.getFloat64(at, true);
      const y = view.getFloat64(at + 8, true);
      if (part.hasZ) builder.addPositionZM(x, y, view.getFloat64(at + 16, true), Number.NaN);
      else builder.addPosition(x, y);
      at += part.hasZ ? 24 : 16;
    }
  };
  if (part.kind === Kind.LineString) ring();
  else {
    const rings = view.getUint32(at, true);
    at += 4;
    for (let i = 0; i < rings; i++) ring();
  }
}
