import { Kind } from "../../../src/model/geometry.js";
import type { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { addPoints, appendCurveSegment, type CurvePoints, closeRing, isArcString, linearizeArcs } from "../curves.js";
import { GeometryParseError } from "../geometry-parse-error.js";
import { kindByWkbType, nonFinitePositionMessage, WkbCurveType, WkbSurfaceType } from "./cursor.js";
import { minGeometryBytes, WkbHeaderScanner } from "./header-scanner.js";

/** Protects the call stack from malicious nesting. */
const maxNesting = 64;

/**
 * Reads WKB: ISO type numbers (1001, 2001, 3001 …), the flags of EWKB and of the old OGC 2.5D types, both byte orders.
 * Curves become lines and are counted; open rings are closed and counted; a Point of NaNs is empty. Surfaces of
 * triangles or patches become MultiPolygons.
 */
export class WkbReader extends WkbHeaderScanner {
  private scratch = Buffer.alloc(0);
  /** Rings that were closed, over all blobs. */
  closedRings = 0;
  /** Curves that were linearized, over all blobs. */
  curves = 0;
  /** Blobs with an unreadable part, which is NaN in the builder. */
  unreadable = 0;

  /** Adds the geometry `bytes[from … to]` as one feature. @throws GeometryParseError, with nothing added */
  read(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    this.feature(bytes, from, to, true, builder);
  }

  /** Likewise for a geometry followed by others. @returns its end */
  readMember(bytes: Uint8Array, from: number, builder: GeometryBuilder): number {
    this.feature(bytes, from, bytes.length, false, builder);
    return this.at;
  }

  private feature(bytes: Uint8Array, from: number, to: number, isLast: boolean, builder: GeometryBuilder): void {
    this.open(bytes);
    this.at = from;
    this.end = to;
    this.srid = null;
    this.flaw = null;
    builder.begin(Kind.none);
    try {
      this.geometry(builder, 0);
      if (isLast && this.at < this.end) throw this.error("more bytes follow the geometry");
      if (this.flaw !== null) this.keepParts(this.flaw, builder);
    } catch (error) {
      builder.cancel();
      throw error;
    }
    builder.end();
  }

  /** @throws GeometryParseError if no part is readable */
  private keepParts(flaw: GeometryParseError, builder: GeometryBuilder): void {
    if (!builder.hasReadablePart()) throw flaw;
    this.unreadable++;
  }

  /** Likewise for hexadecimal text. */
  readHex(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    const size = (to - from) >> 1;
    if (this.scratch.length < size) this.scratch = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.scratch.length));
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
    const decoded = this.scratch.write(text, 0, "hex");
    if (decoded !== size || (to - from) % 2 !== 0) throw new GeometryParseError("not hexadecimal", from + 2 * decoded);
    this.read(this.scratch, 0, size, builder);
  }

  /** Reads a geometry without calling the builder's `end`. */
  private geometry(builder: GeometryBuilder, depth: number): void {
    if (depth >= maxNesting) throw this.error("geometries are nested too deep");
    const type = this.header();
    builder.begin(kindByWkbType[type]!);
    switch (type) {
      case Kind.Point:
        if (this.skipEmptyPoint()) return;
        builder.beginPart();
        builder.beginRing();
        this.positions(builder, 1);
        break;
      case Kind.LineString:
        this.line(builder);
        break;
      case Kind.Polygon:
      case WkbSurfaceType.triangle:
        this.polygon(builder);
        break;
      case Kind.MultiPoint:
        this.multiPoint(builder);
        break;
      case Kind.GeometryCollection:
        this.members(builder.beginMembers(), depth);
        break;
      case WkbCurveType.circularString:
      case WkbCurveType.compoundCurve: {
        const points = this.curve(type, depth);
        if (points.length > 0) builder.beginPart();
        this.add(builder, points);
        break;
      }
      case WkbCurveType.curvePolygon:
        this.curvePolygon(builder, depth);
        break;
      case Kind.MultiLineString:
      case WkbCurveType.multiCurve:
        this.lines(builder, depth);
        break;
      default:
        this.polygons(builder, depth);
    }
  }

  private members(members: GeometryBuilder, depth: number): void {
    for (let count = this.count(minGeometryBytes); count > 0; count--) {
      this.geometry(members, depth + 1);
      members.end();
    }
  }

  private add(builder: GeometryBuilder, points: CurvePoints): void {
    if (points.length === 0) return;
    builder.beginRing();
    addPoints(builder, points);
  }

  private positions(builder: GeometryBuilder, count: number): void {
    const { view, little, hasZ, hasM } = this;
    let { at } = this;
    if (little && !hasZ && !hasM && builder.addPositionsFromView(view, at, count)) {
      this.at += 16 * count;
      return;
    }
    for (let n = 0; n < count; n++) {
      const x = view.getFloat64(at, little);
      const y = view.getFloat64(at + 8, little);
      at += 16;
      if (Number.isNaN(x + y)) this.flaw ??= this.error(nonFinitePositionMessage);
      if (!hasZ && !hasM) {
        builder.addPosition(x, y);
        continue;
      }
      const z = hasZ ? view.getFloat64(at, little) : Number.NaN;
      if (hasZ) at += 8;
      const m = hasM ? view.getFloat64(at, little) : Number.NaN;
      if (hasM) at += 8;
      builder.addPositionZM(x, y, z, m);
    }
    this.at = at;
  }

  private line(builder: GeometryBuilder): void {
    const count = this.count(this.positionSize);
    if (count === 0) return;
    builder.beginPart();
    builder.beginRing();
    this.positions(builder, count);
  }

  private polygon(builder: GeometryBuilder): void {
    let isEmpty = true;
    const rings = this.count(4);
    for (let r = 0; r < rings; r++) {
      const count = this.count(this.positionSize);
      if (count === 0) continue;
      if (isEmpty) this.shell(builder, r);
      isEmpty = false;
      builder.beginRing();
      if (this.isClosed(count)) this.positions(builder, count);
      else {
        const points = this.points(count);
        if (closeRing(points)) this.closedRings++;
        addPoints(builder, points);
      }
    }
  }

  /** Begins a polygon with ring `r`, its first ring that is not empty. */
  private shell(builder: GeometryBuilder, r: number): void {
    if (r > 0) throw this.error("a polygon has holes but no shell");
    builder.beginPart();
  }

  /** The positions of a curve, after its header. */
  private curve(type: number, depth: number): CurvePoints {
    if (depth >= maxNesting) throw this.error("geometries are nested too deep");
    if (type === Kind.LineString) return this.points(this.count(this.positionSize));
    if (type === WkbCurveType.circularString) return this.arcs();
    if (type !== WkbCurveType.compoundCurve) throw this.error("a curve is expected here");
    const line: CurvePoints = [];
    for (let count = this.count(minGeometryBytes); count > 0; count--)
      appendCurveSegment(line, this.curve(this.header(), depth + 1));
    return line;
  }

  private arcs(): CurvePoints {
    const count = this.count(this.positionSize);
    if (!isArcString(count)) throw this.error(`${count} positions do not form a circular string`);
    if (count > 0) this.curves++;
    return linearizeArcs(this.points(count));
  }

  private curvePolygon(builder: GeometryBuilder, depth: number): void {
    let isEmpty = true;
    const rings = this.count(minGeometryBytes);
    for (let r = 0; r < rings; r++) {
      const points = this.curve(this.header(), depth + 1);
      if (points.length === 0) continue;
      if (isEmpty) this.shell(builder, r);
      isEmpty = false;
      if (closeRing(points)) this.closedRings++;
      this.add(builder, points);
    }
  }

  private multiPoint(builder: GeometryBuilder): void {
    let isEmpty = true;
    for (let count = this.count(21); count > 0; count--) {
      if (this.header() !== Kind.Point) throw this.error("a Point is expected here");
      if (this.skipEmptyPoint()) continue;
      if (isEmpty) {
        builder.beginPart();
        builder.beginRing();
        isEmpty = false;
      }
      this.positions(builder, 1);
    }
  }

  private lines(builder: GeometryBuilder, depth: number): void {
    let isEmpty = true;
    for (let count = this.count(minGeometryBytes); count > 0; count--) {
      const type = this.header();
      const size = type === Kind.LineString ? this.count(this.positionSize) : 0;
      const points = type === Kind.LineString ? null : this.curve(type, depth + 1);
      if (size === 0 && (points === null || points.length === 0)) continue;
      if (isEmpty) builder.beginPart();
      isEmpty = false;
      if (points) this.add(builder, points);
      else {
        builder.beginRing();
        this.positions(builder, size);
      }
    }
  }

  private polygons(builder: GeometryBuilder, depth: number): void {
    for (let count = this.count(minGeometryBytes); count > 0; count--) {
      const type = this.header();
      if (type === WkbCurveType.curvePolygon) this.curvePolygon(builder, depth + 1);
      else if (type === Kind.Polygon || type === WkbSurfaceType.triangle) this.polygon(builder);
      else throw this.error("a Polygon is expected here");
    }
  }
}
