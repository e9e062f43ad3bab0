import { isLittleEndian } from "../../../src/model/doubles.js";
import { type GeometryColumn, Kind } from "../../../src/model/geometry.js";
import { type Dimensions, dimensionsOf, xyOnly } from "../dimensions.js";

const hexDigits = "0123456789abcdef";

/** For fewer positions, writing single numbers is faster than a bulk copy. */
const minBulkCopyPositions = 4;

/**
 * Writes geometries as little-endian WKB with ISO type numbers (Point Z is 1001). Missing heights or measures of positions
 * in a geometry that has them become 0.
 */
export class WkbWriter {
  /** Positions whose missing height became 0, over all geometries. */
  missingZ = 0;
  /** Positions whose missing measure became 0. */
  missingM = 0;
  private buffer = Buffer.allocUnsafeSlow(1024);
  private at = 0;
  private z = false;
  private m = false;

  /**
   * Returns the WKB of feature `i`, which must not be null, valid until the next call.
   * @param room bytes to reserve before it, for the caller to fill
   * @param least dimensions to write even if the geometry does not have them
   */
  write(column: GeometryColumn, i: number, room = 0, least: Dimensions = xyOnly): Buffer {
    this.at = 0;
    this.reserve(room);
    this.at = room;
    const { z, m } = dimensionsOf(column, i);
    this.z = z || least.z;
    this.m = m || least.m;
    this.geometry(column, i);
    return this.buffer.subarray(0, this.at);
  }

  /** Likewise as lower-case hexadecimal digits. */
  writeHex(column: GeometryColumn, i: number): Uint8Array {
    const bytes = this.write(column, i);
    const text = new Uint8Array(bytes.length * 2);
    for (let k = 0; k < bytes.length; k++) {
      text[2 * k] = hexDigits.charCodeAt(bytes[k]! >> 4);
      text[2 * k + 1] = hexDigits.charCodeAt(bytes[k]! & 15);
    }
    return text;
  }

  private reserve(size: number): void {
    if (this.at + size <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.at + size, 2 * this.buffer.length));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
  }

  private uint32(value: number): void {
    this.reserve(4);
    const { buffer, at } = this;
    buffer[at] = value;
    buffer[at + 1] = value >>> 8;
    buffer[at + 2] = value >>> 16;
    buffer[at + 3] = value >>> 24;
    this.at = at + 4;
  }

  private header(kind: number): void {
    this.reserve(5);
    this.buffer[this.at++] = 1;
    this.uint32(kind + (this.z ? 1000 : 0) + (this.m ? 2000 : 0));
  }

  private geometry(column: GeometryColumn, i: number): void {
    const kind = column.kinds[i]!;
    this.header(kind);
    const from = column.partOffsets[i]!;
    const to = column.partOffsets[i + 1]!;
    switch (kind) {
      case Kind.Point:
        if (from === to) this.emptyPoint();
        else this.positions(column, column.ringOffsets[from]!, false);
        break;
      case Kind.LineString:
        if (from === to) this.uint32(0);
        else this.positions(column, column.ringOffsets[from]!, true);
        break;
      case Kind.Polygon:
        if (from === to) this.uint32(0);
        else this.rings(column, from, false);
        break;
      case Kind.MultiPoint:
        if (from === to) this.uint32(0);
        else this.points(column, column.ringOffsets[from]!);
        break;
      case Kind.MultiLineString:
        if (from === to) this.uint32(0);
        else this.rings(column, from, true);
        break;
      case Kind.MultiPolygon:
        this.uint32(to - from);
        for (let p = from; p < to; p++) {
          this.header(Kind.Polygon);
          this.rings(column, p, false);
        }
        break;
      default:
        this.members(column, i);
    }
  }

  private members(column: GeometryColumn, i: number): void {
    const from = column.memberOffsets ? column.memberOffsets[i]! : 0;
    const to = column.memberOffsets ? column.memberOffsets[i + 1]! : 0;
    this.uint32(to - from);
    if (column.members) for (let k = from; k < to; k++) this.geometry(column.members, k);
  }

  private emptyPoint(): void {
    const count = 2 + (this.z ? 1 : 0) + (this.m ? 1 : 0);
    this.reserve(8 * count);
    for (let n = 0; n < count; n++) this.at = this.buffer.writeDoubleLE(Number.NaN, this.at);
  }

  private rings(column: GeometryColumn, p: number, headed: boolean): void {
    const from = column.ringOffsets[p]!;
    const to = column.ringOffsets[p + 1]!;
    this.uint32(to - from);
    for (let r = from; r < to; r++) {
      if (headed) this.header(Kind.LineString);
      this.positions(column, r, true);
    }
  }

  private points(column: GeometryColumn, r: number): void {
    const from = column.positionOffsets[r]!;
    const to = column.positionOffsets[r + 1]!;
    this.uint32(to - from);
    for (let k = from; k < to; k++) {
      this.header(Kind.Point);
      this.position(column, k);
    }
  }

  private positions(column: GeometryColumn, r: number, counted: boolean): void {
    const from = column.positionOffsets[r]!;
    const to = column.positionOffsets[r + 1]!;
    if (counted) this.uint32(to - from);
    if (this.z || this.m || !isLittleEndian || to - from < minBulkCopyPositions) {
      for (let k = from; k < to; k++) this.position(column, k);
      return;
    }
    const { xy } = column;
    const size = 16 * (to - from);
    this.reserve(size);
    this.buffer.set(new Uint8Array(xy.buffer, xy.byteOffset + 16 * from, size), this.at);
    this.at += size;
  }

  private position(column: GeometryColumn, k: number): void {
    this.reserve(32);
    const { buffer } = this;
    let at = buffer.writeDoubleLE(column.xy[2 * k]!, this.at);
    at = buffer.writeDoubleLE(column.xy[2 * k + 1]!, at);
    if (this.z) {
      const z = column.z ? column.z[k]! : Number.NaN;
      if (Number.isNaN(z)) this.missingZ++;
      at = buffer.writeDoubleLE(Number.isNaN(z) ? 0 : z, at);
    }
    if (this.m) {
      const m = column.m ? column.m[k]! : Number.NaN;
      if (Number.isNaN(m)) this.missingM++;
      at = buffer.writeDoubleLE(Number.isNaN(m) ? 0 : m, at);
    }
    this.at = at;
  }
}
