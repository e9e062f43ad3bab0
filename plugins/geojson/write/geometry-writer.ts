import { type GeometryColumn, geometryTypes, Kind } from "../../../src/model/index.js";
import { EncodedText } from "../../shared/text/literal.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";

const comma = 44;
const openingBracket = 91;
const closingBracket = 93;

/** How deep positions are nested, by kind. */
const nestingByKind = [0, 1, 2, 3, 2, 3, 4, 0];

const geometryPrefixes = geometryTypes.map((type, kind) => {
  const isCollection = kind === Kind.GeometryCollection;
  return new EncodedText(isCollection ? `{"type":"${type}","geometries":[` : `{"type":"${type}","coordinates":`);
});
const nullLiteral = new EncodedText("null");

export interface GeometrySettings {
  /** Decimals of x and y, and of z. */
  readonly precision: number;
  readonly zPrecision: number;
  /** Whether rings are oriented by RFC 7946, section 3.1.6. */
  readonly wind: boolean;
}

/** Minimum and maximum x, y and z of the geometries added; inverted infinities before the first. */
export class Bounds {
  readonly least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  readonly most = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  private add(axis: number, value: number): void {
    if (!(value - value === 0)) return;
    if (value < this.least[axis]!) this.least[axis] = value;
    if (value > this.most[axis]!) this.most[axis] = value;
  }

  addGeometry(column: GeometryColumn, row: number): void {
    const { partOffsets, ringOffsets, positionOffsets, xy, z } = column;
    const from = positionOffsets[ringOffsets[partOffsets[row]!]!]!;
    const to = positionOffsets[ringOffsets[partOffsets[row + 1]!]!]!;
    for (let k = from; k < to; k++) {
      this.add(0, xy[2 * k]!);
      this.add(1, xy[2 * k + 1]!);
      if (z) this.add(2, z[k]!);
    }
    if (column.kinds[row] !== Kind.GeometryCollection || !column.members || !column.memberOffsets) return;
    for (let m = column.memberOffsets[row]!; m < column.memberOffsets[row + 1]!; m++)
      this.addGeometry(column.members, m);
  }

  merge(least: readonly number[], most: readonly number[]): void {
    for (let axis = 0; axis < 3; axis++) {
      this.add(axis, least[axis]!);
      this.add(axis, most[axis]!);
    }
  }

  /** Writes the "bbox" member (RFC 7946, section 5) with the comma before it; nothing if there is no position. */
  write(out: TextBuffer, settings: GeometrySettings): void {
    const { least, most } = this;
    if (least[0]! > most[0]!) return;
    const axes = least[2]! > most[2]! ? 2 : 3;
    out.ascii(',"bbox":[');
    for (const corner of [least, most]) {
      for (let axis = 0; axis < axes; axis++) {
        if (corner === most || axis > 0) out.byte(comma);
        out.fixed(corner[axis]!, axis === 2 ? settings.zPrecision : settings.precision);
      }
    }
    out.byte(closingBracket);
  }
}

/** Writes geometries as GeoJSON objects (RFC 7946, section 3.1). */
export class GeoJsonGeometryWriter {
  private finite = true;

  constructor(
    private readonly out: TextBuffer,
    private readonly settings: GeometrySettings,
  ) {}

  /** Returns false, and writes null, if a coordinate has no JSON number. */
  write(column: GeometryColumn, row: number): boolean {
    const { out } = this;
    const start = out.length;
    this.finite = true;
    this.geometry(column, row);
    if (this.finite) return true;
    out.length = start;
    out.literal(nullLiteral);
    return false;
  }

  private geometry(column: GeometryColumn, row: number): void {
    const { out } = this;
    const kind = column.kinds[row]!;
    if (kind === Kind.none) {
      out.literal(nullLiteral);
      return;
    }
    out.literal(geometryPrefixes[kind]!);
    if (kind === Kind.GeometryCollection) this.members(column, row);
    else this.coordinates(column, row, kind);
    out.byte(125);
  }

  private members(column: GeometryColumn, row: number): void {
    const { members, memberOffsets } = column;
    let first = true;
    for (let m = memberOffsets?.[row] ?? 0; m < (memberOffsets?.[row + 1] ?? 0); m++) {
      if (members!.kinds[m] === Kind.none) continue;
      if (!first) this.out.byte(comma);
      first = false;
      this.geometry(members!, m);
    }
    this.out.byte(closingBracket);
  }

  private coordinates(column: GeometryColumn, row: number, kind: number): void {
    const { out } = this;
    const from = column.partOffsets[row]!;
    const to = column.partOffsets[row + 1]!;
    const polygons = kind === Kind.Polygon || kind === Kind.MultiPolygon;
    const level = nestingByKind[kind]!;
    if (level === 4) {
      out.byte(openingBracket);
      for (let p = from; p < to; p++) {
        if (p > from) out.byte(comma);
        this.part(column, p, polygons);
      }
      out.byte(closingBracket);
    } else if (from === to) {
      out.byte(openingBracket);
      out.byte(closingBracket);
    } else if (level === 3) this.part(column, from, polygons);
    else {
      const ring = column.ringOffsets[from]!;
      const first = column.positionOffsets[ring]!;
      if (level === 2) this.ring(column, first, column.positionOffsets[ring + 1]!);
      else this.position(column, first);
    }
  }

  private part(column: GeometryColumn, part: number, polygon: boolean): void {
    const { out } = this;
    const { ringOffsets, positionOffsets } = column;
    const first = ringOffsets[part]!;
    out.byte(openingBracket);
    for (let r = first; r < ringOffsets[part + 1]!; r++) {
      if (r > first) out.byte(comma);
      const from = positionOffsets[r]!;
      const to = positionOffsets[r + 1]!;
      const area = polygon && this.settings.wind ? signedArea(column.xy, from, to) : 0;
      if (r === first ? area < 0 : area > 0) this.reversedRing(column, from, to);
      else this.ring(column, from, to);
    }
    out.byte(closingBracket);
  }

  private ring(column: GeometryColumn, from: number, to: number): void {
    this.out.byte(openingBracket);
    for (let k = from; k < to; k++) {
      if (k > from) this.out.byte(comma);
      this.position(column, k);
    }
    this.out.byte(closingBracket);
  }

  private reversedRing(column: GeometryColumn, from: number, to: number): void {
    this.out.byte(openingBracket);
    for (let k = to - 1; k >= from; k--) {
      if (k < to - 1) this.out.byte(comma);
      this.position(column, k);
    }
    this.out.byte(closingBracket);
  }

  private position(column: GeometryColumn, k: number): void {
    const { out, settings } = this;
    const x = column.xy[2 * k]!;
    const y = column.xy[2 * k + 1]!;
    const sum = x + y;
    if (!(sum - sum === 0)) {
      this.finite = false;
      return;
    }
    out.byte(openingBracket);
    out.fixedAt(column.xy, 2 * k, settings.precision);
    out.byte(comma);
    out.fixedAt(column.xy, 2 * k + 1, settings.precision);
    const z = column.z ? column.z[k]! : Number.NaN;
    if (z - z === 0) {
      out.byte(comma);
      out.fixed(z, settings.zPrecision);
    } else if (!Number.isNaN(z)) this.finite = false;
    out.byte(closingBracket);
  }
}

/** Twice the area of the ring, positive if it is counter-clockwise. */
export function signedArea(xy: Float64Array, from: number, to: number): number {
  if (to - from < 3) return 0;
  const x0 = xy[2 * from]!;
  const y0 = xy[2 * from + 1]!;
  let area = 0;
  let x = 0;
  let y = 0;
  for (let k = from + 1; k < to; k++) {
    const nextX = xy[2 * k]! - x0;
    const nextY = xy[2 * k + 1]! - y0;
    area += x * nextY - nextX * y;
    x = nextX;
    y = nextY;
  }
  return area;
}
