import { type GeometryBuilder, type GeometryColumn, Kind } from "../../src/model/geometry.js";
import { addPoints, type CurvePoints, close, join, linearise } from "./curves.js";
import { dimensionsOf, GeometryTextError } from "./wkt.js";

/** Geometry types of WKB (ISO 13249-3, 5.1.47) that GeoJSON has no word for. */
const Curve = { circularString: 8, compoundCurve: 9, curvePolygon: 10, multiCurve: 11, multiSurface: 12 } as const;
const Surface = { polyhedral: 15, tin: 16, triangle: 17 } as const;

/** The kind that a WKB type is read as, by its number. */
const kinds: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 3, 5, 6, 0, 0, 6, 6, 3];

const mostNested = 64;
const hexDigits = "0123456789abcdef";

/**
 * Reads WKB: ISO type numbers (1001, 2001, 3001 …), the flags of EWKB and of the old OGC 2.5D types, both byte orders.
 * Curves become lines; open rings are closed and counted; a Point of NaNs is empty.
 */
export class WkbReader {
  private view: DataView<ArrayBufferLike> = new DataView(new ArrayBuffer(0));
  private start = 0;
  private at = 0;
  private end = 0;
  private little = true;
  private hasZ = false;
  private hasM = false;
  private scratch = Buffer.alloc(0);
  /** Of the blob read last (EWKB); null where it names none. */
  srid: number | null = null;
  /** Rings that had to be closed, over all blobs. */
  closedRings = 0;

  /** `accepts` may refuse an SRID. */
  constructor(private readonly accepts: (srid: number) => boolean = () => true) {}

  /** Adds the geometry `bytes[from … to]` as one feature. @throws GeometryTextError, with nothing added */
  read(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    this.view = new DataView(bytes.buffer, bytes.byteOffset + from, to - from);
    this.start = from;
    this.at = 0;
    this.end = to - from;
    this.srid = null;
    builder.begin(Kind.none);
    try {
      this.geometry(builder, 0);
      if (this.at < this.end) throw this.error("more bytes follow the geometry");
    } catch (error) {
      builder.cancel();
      throw error;
    }
    builder.end();
  }

  /** The same for hexadecimal text. */
  readHex(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    const size = (to - from) >> 1;
    if (this.scratch.length < size) this.scratch = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.scratch.length));
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
    const decoded = this.scratch.write(text, 0, "hex");
    if (decoded !== size || (to - from) % 2 !== 0) throw new GeometryTextError("not hexadecimal", from + 2 * decoded);
    this.read(this.scratch, 0, size, builder);
  }

  private error(reason: string): GeometryTextError {
    return new GeometryTextError(reason, this.start + this.at);
  }

  private need(size: number): void {
    if (size > this.end - this.at) throw this.error("the geometry ends early");
  }

  private uint32(): number {
    this.need(4);
    const value = this.view.getUint32(this.at, this.little);
    this.at += 4;
    return value;
  }

  /** A count of items that take at least `least` bytes each. */
  private count(least: number): number {
    const count = this.uint32();
    if (count * least > this.end - this.at)
      throw this.error(`${count} items are announced, more than there is room for`);
    return count;
  }

  /** Byte order, type and SRID; sets the dimensions. */
  private header(): number {
    this.need(5);
    const order = this.view.getUint8(this.at++);
    if (order > 1) throw this.error(`${order} is no byte order`);
    this.little = order === 1;
    const word = this.uint32();
    const thousands = Math.floor((word & 0x0fffffff) / 1000);
    const type = (word & 0x0fffffff) % 1000;
    this.hasZ = (word & 0x80000000) !== 0 || thousands === 1 || thousands === 3;
    this.hasM = (word & 0x40000000) !== 0 || thousands === 2 || thousands === 3;
    if (thousands > 3 || !kinds[type]) throw this.error(`${word} is no geometry type`);
    if ((word & 0x20000000) !== 0) {
      const srid = this.uint32() | 0;
      if (!this.accepts(srid)) throw this.error(`SRID ${srid} is not that of the others`);
      this.srid ??= srid;
    }
    return type;
  }

  private get positionSize(): number {
    return 16 + (this.hasZ ? 8 : 0) + (this.hasM ? 8 : 0);
  }

  /** Everything of a geometry but its `end()`. */
  private geometry(builder: GeometryBuilder, depth: number): void {
    if (depth >= mostNested) throw this.error("geometries are nested too deep");
    const type = this.header();
    builder.begin(kinds[type]!);
    switch (type) {
      case Kind.Point:
        this.point(builder);
        break;
      case Kind.LineString:
        this.line(builder);
        break;
      case Kind.Polygon:
      case Surface.triangle:
        this.polygon(builder);
        break;
      case Kind.MultiPoint:
        this.multiPoint(builder);
        break;
      case Kind.GeometryCollection: {
        const members = builder.collection();
        for (let count = this.count(5); count > 0; count--) {
          this.geometry(members, depth + 1);
          members.end();
        }
        break;
      }
      case Curve.circularString:
      case Curve.compoundCurve:
        this.add(builder, this.curve(type, depth), true);
        break;
      case Curve.curvePolygon:
        this.curvePolygon(builder, depth);
        break;
      case Kind.MultiLineString:
      case Curve.multiCurve:
        this.lines(builder, depth);
        break;
      case Kind.MultiPolygon:
      case Curve.multiSurface:
      case Surface.polyhedral:
      case Surface.tin:
        this.polygons(builder, depth);
        break;
    }
  }

  private add(builder: GeometryBuilder, points: CurvePoints, part: boolean): void {
    if (points.length === 0) return;
    if (part) builder.part();
    builder.ring();
    addPoints(builder, points);
  }

  private point(builder: GeometryBuilder): void {
    this.need(this.positionSize);
    const { view, little } = this;
    // An empty point has NaN for coordinates (OGC 12-128r18, 2.1.3.1.2).
    if (Number.isNaN(view.getFloat64(this.at, little)) && Number.isNaN(view.getFloat64(this.at + 8, little))) {
      this.at += this.positionSize;
      return;
    }
    builder.part();
    builder.ring();
    this.positions(builder, 1);
  }

  private positions(builder: GeometryBuilder, count: number): void {
    const { view, little, hasZ, hasM } = this;
    let { at } = this;
    for (let n = 0; n < count; n++) {
      const x = view.getFloat64(at, little);
      const y = view.getFloat64(at + 8, little);
      at += 16;
      if (Number.isNaN(x + y)) throw this.error("a position is not a number");
      if (!hasZ && !hasM) {
        builder.position(x, y);
        continue;
      }
      const z = hasZ ? view.getFloat64(at, little) : Number.NaN;
      if (hasZ) at += 8;
      const m = hasM ? view.getFloat64(at, little) : Number.NaN;
      if (hasM) at += 8;
      builder.positionZM(x, y, z, m);
    }
    this.at = at;
  }

  private line(builder: GeometryBuilder): void {
    const count = this.count(this.positionSize);
    if (count === 0) return;
    builder.part();
    builder.ring();
    this.positions(builder, count);
  }

  private polygon(builder: GeometryBuilder): void {
    const rings = this.count(4);
    if (rings > 0) builder.part();
    for (let r = 0; r < rings; r++) {
      const count = this.count(this.positionSize);
      if (count === 0) continue;
      builder.ring();
      if (this.isClosed(count)) this.positions(builder, count);
      else {
        const points = this.points(count);
        if (close(points)) this.closedRings++;
        addPoints(builder, points);
      }
    }
  }

  private isClosed(count: number): boolean {
    const { view, at, little } = this;
    const last = at + (count - 1) * this.positionSize;
    return (
      view.getFloat64(at, little) === view.getFloat64(last, little) &&
      view.getFloat64(at + 8, little) === view.getFloat64(last + 8, little)
    );
  }

  private points(count: number): CurvePoints {
    const points: CurvePoints = [];
    const { view, little } = this;
    for (let n = 0; n < count; n++) {
      const at = this.at;
      points.push(
        view.getFloat64(at, little),
        view.getFloat64(at + 8, little),
        this.hasZ ? view.getFloat64(at + 16, little) : Number.NaN,
        this.hasM ? view.getFloat64(at + (this.hasZ ? 24 : 16), little) : Number.NaN,
      );
      if (Number.isNaN(points[points.length - 4]! + points[points.length - 3]!)) {
        throw this.error("a position is not a number");
      }
      this.at += this.positionSize;
    }
    return points;
  }

  /** The positions of a curve whose header was just read. */
  private curve(type: number, depth: number): CurvePoints {
    if (depth >= mostNested) throw this.error("geometries are nested too deep");
    if (type === Kind.LineString) return this.points(this.count(this.positionSize));
    if (type === Curve.circularString) return linearise(this.points(this.count(this.positionSize)));
    if (type !== Curve.compoundCurve) throw this.error("a curve is expected here");
    const line: CurvePoints = [];
    for (let count = this.count(5); count > 0; count--) join(line, this.curve(this.header(), depth + 1));
    return line;
  }

  private curvePolygon(builder: GeometryBuilder, depth: number): void {
    const rings = this.count(5);
    if (rings > 0) builder.part();
    for (let r = 0; r < rings; r++) {
      const points = this.curve(this.header(), depth + 1);
      if (close(points)) this.closedRings++;
      this.add(builder, points, false);
    }
  }

  private multiPoint(builder: GeometryBuilder): void {
    const count = this.count(21);
    if (count === 0) return;
    builder.part();
    builder.ring();
    for (let n = 0; n < count; n++) {
      if (this.header() !== Kind.Point) throw this.error("a Point is expected here");
      this.need(this.positionSize);
      const { view, at, little } = this;
      if (Number.isNaN(view.getFloat64(at, little)) && Number.isNaN(view.getFloat64(at + 8, little))) {
        this.at += this.positionSize;
      } else this.positions(builder, 1);
    }
  }

  private lines(builder: GeometryBuilder, depth: number): void {
    const count = this.count(5);
    if (count > 0) builder.part();
    for (let n = 0; n < count; n++) {
      const type = this.header();
      if (type === Kind.LineString) {
        const size = this.count(this.positionSize);
        if (size === 0) continue;
        builder.ring();
        this.positions(builder, size);
      } else this.add(builder, this.curve(type, depth + 1), false);
    }
  }

  private polygons(builder: GeometryBuilder, depth: number): void {
    for (let count = this.count(5); count > 0; count--) {
      const type = this.header();
      if (type === Curve.curvePolygon) this.curvePolygon(builder, depth + 1);
      else if (type === Kind.Polygon || type === Surface.triangle) this.polygon(builder);
      else throw this.error("a Polygon is expected here");
    }
  }
}

/**
 * Writes geometries as little-endian WKB, types by their ISO numbers (Point Z is 1001). Positions without a height or
 * measure, in a geometry with them, have 0.
 */
export class WkbWriter {
  /** Positions that got the height 0, over all geometries. */
  missingZ = 0;
  /** Positions that got the measure 0. */
  missingM = 0;
  private buffer = Buffer.allocUnsafeSlow(1024);
  private at = 0;
  private z = false;
  private m = false;

  /** Feature i, which must not be a null geometry: bytes that are good until the next call. */
  write(column: GeometryColumn, i: number): Uint8Array {
    this.at = 0;
    const { z, m } = dimensionsOf(column, i);
    this.z = z;
    this.m = m;
    this.geometry(column, i);
    return this.buffer.subarray(0, this.at);
  }

  /** The same as lower-case hexadecimal digits. */
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
    this.at = this.buffer.writeUInt32LE(value, this.at);
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
    for (let k = from; k < to; k++) this.position(column, k);
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
