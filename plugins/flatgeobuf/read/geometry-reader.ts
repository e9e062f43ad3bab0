/** Reads the table Geometry (feature.fbs of FlatGeobuf 3). */
import { type GeometryBuilder, Kind } from "../../../src/model/index.js";
import {
  addPoints,
  appendCurveSegment,
  type CurvePoints,
  closeRing,
  isArcString,
  linearizeArcs,
} from "../../shared/curves.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { nonFinitePositionMessage } from "../../shared/wkb/cursor.js";
import { FlatDamage, type FlatReader } from "../header/flat-reader.js";
import { GeometryType } from "../header/header.js";

/** Indexes of the members of Geometry. */
export const GeometryMember = { ends: 0, xy: 1, z: 2, m: 3, type: 6, parts: 7 } as const;

/** Protects the call stack from malicious nesting. */
const maxNesting = 64;
/** An offset to a table, and the start of the table. */
const minPartBytes = 8;

/** Where the coordinates of a geometry without parts are; 0 for dimensions and ends that it does not have. */
interface Coordinates {
  readonly count: number;
  readonly xy: number;
  readonly z: number;
  readonly m: number;
  readonly ends: number;
  readonly endCount: number;
}

export class GeometryReader {
  /** Rings that were closed. */
  closedRings = 0;
  /** Curves that were linearized. */
  curves = 0;
  /** Geometries with an unreadable part, which is NaN in the builder. */
  unreadable = 0;
  /** Positions with a height or measure that the header does not declare. */
  undeclaredZ = 0;
  undeclaredM = 0;
  private hasFlaw = false;
  /** Bytes of the feature that no part has taken yet. */
  private budget = 0;

  /** @param flat reads the table of the feature */
  constructor(
    private readonly flat: FlatReader,
    private readonly builder: GeometryBuilder,
    private readonly declared: { readonly hasZ: boolean; readonly hasM: boolean },
  ) {}

  /**
   * Adds the geometry in `table` as one feature.
   * @param type GeometryType of the layer; 0: that of the table
   * @param bytes size of the feature, which limits what its parts have together: they cannot share bytes
   * @throws GeometryParseError, FlatDamage, with nothing added
   */
  read(table: number, type: number, bytes: number): void {
    const { builder } = this;
    const own = type === GeometryType.unknown ? this.flat.uint8(table, GeometryMember.type) : type;
    if (own === GeometryType.point && this.plainPoint(table)) return;
    this.hasFlaw = false;
    this.budget = bytes;
    builder.begin(Kind.none);
    try {
      this.geometry(table, own, builder, 0);
      if (this.hasFlaw && !builder.hasReadablePart()) throw this.error(nonFinitePositionMessage);
      if (this.hasFlaw) this.unreadable++;
    } catch (error) {
      builder.cancel();
      throw error;
    }
    builder.end();
  }

  /** The most common geometry. @returns whether it is a point with x and y only */
  private plainPoint(table: number): boolean {
    const { flat, builder } = this;
    if (this.declared.hasZ || this.declared.hasM) return false;
    const xy = flat.vector(table, GeometryMember.xy, 8);
    if (flat.length !== 2 || flat.member(table, GeometryMember.z, 4) || flat.member(table, GeometryMember.m, 4))
      return false;
    const x = flat.view.getFloat64(xy, true);
    const y = flat.view.getFloat64(xy + 8, true);
    if (Number.isNaN(x + y)) return false;
    builder.addPoint(x, y);
    return true;
  }

  private take(bytes: number): void {
    this.budget -= bytes;
    if (this.budget < 0) throw new FlatDamage("parts of its geometry are in the same place");
  }

  private error(reason: string): GeometryParseError {
    return new GeometryParseError(reason, 0);
  }

  private geometry(table: number, type: number, builder: GeometryBuilder, depth: number): void {
    if (depth >= maxNesting) throw this.error("geometries are nested too deep");
    switch (type) {
      case GeometryType.point:
      case GeometryType.lineString:
      case GeometryType.multiPoint:
        builder.begin(type);
        this.singleRing(this.coordinates(table), type, builder);
        return;
      case GeometryType.polygon:
      case GeometryType.triangle:
        builder.begin(Kind.Polygon);
        this.polygon(table, builder);
        return;
      case GeometryType.multiLineString:
        builder.begin(type);
        this.lines(this.coordinates(table), builder);
        return;
      case GeometryType.geometryCollection:
        builder.begin(type);
        this.members(table, builder.beginMembers(), depth);
        return;
      case GeometryType.circularString:
      case GeometryType.compoundCurve: {
        builder.begin(Kind.LineString);
        const points = this.curve(table, type, depth);
        if (points.length > 0) builder.beginPart();
        this.ring(builder, points);
        return;
      }
      case GeometryType.curvePolygon:
        builder.begin(Kind.Polygon);
        this.curvePolygon(table, builder, depth);
        return;
      case GeometryType.multiCurve:
        builder.begin(Kind.MultiLineString);
        this.multiCurve(table, builder, depth);
        return;
      case GeometryType.multiPolygon:
      case GeometryType.multiSurface:
      case GeometryType.polyhedralSurface:
      case GeometryType.tin:
        builder.begin(Kind.MultiPolygon);
        this.polygons(table, type, builder, depth);
        return;
      default:
        throw this.error(`${type} is not a geometry type that can be read`);
    }
  }

  private coordinates(table: number): Coordinates {
    const { flat, declared } = this;
    const xy = flat.vector(table, GeometryMember.xy, 8);
    if (flat.length % 2 !== 0) throw this.error("its x and y are not pairs");
    const count = flat.length / 2;
    this.take(16 * count);
    const z = this.ordinates(table, GeometryMember.z, count);
    const m = this.ordinates(table, GeometryMember.m, count);
    if (z > 0 && !declared.hasZ) this.undeclaredZ += count;
    if (m > 0 && !declared.hasM) this.undeclaredM += count;
    const ends = flat.vector(table, GeometryMember.ends, 4);
    return { count, xy, z: declared.hasZ ? z : 0, m: declared.hasM ? m : 0, ends, endCount: flat.length };
  }

  private ordinates(table: number, member: number, count: number): number {
    const at = this.flat.vector(table, member, 8);
    if (this.flat.length !== 0 && this.flat.length !== count)
      throw this.error("it has other numbers of heights or measures than of positions");
    return this.flat.length === 0 ? 0 : at;
  }

  private singleRing(coordinates: Coordinates, type: number, builder: GeometryBuilder): void {
    const { count } = coordinates;
    if (count === 0) return;
    if (type === GeometryType.point) {
      if (count > 1) throw this.error(`a point has ${count} positions`);
      if (this.isEmptyPosition(coordinates)) return;
    }
    builder.beginPart();
    builder.beginRing();
    this.positions(coordinates, 0, count, builder);
  }

  private isEmptyPosition({ xy }: Coordinates): boolean {
    const { view } = this.flat;
    return Number.isNaN(view.getFloat64(xy, true)) && Number.isNaN(view.getFloat64(xy + 8, true));
  }

  private positions({ xy, z, m }: Coordinates, from: number, to: number, builder: GeometryBuilder): void {
    const { view } = this.flat;
    if (z === 0 && m === 0 && builder.addPositionsFromView(view, xy + 16 * from, to - from)) return;
    for (let k = from; k < to; k++) {
      const x = view.getFloat64(xy + 16 * k, true);
      const y = view.getFloat64(xy + 16 * k + 8, true);
      if (Number.isNaN(x + y)) this.hasFlaw = true;
      if (z === 0 && m === 0) builder.addPosition(x, y);
      else {
        const height = z === 0 ? Number.NaN : view.getFloat64(z + 8 * k, true);
        builder.addPositionZM(x, y, height, m === 0 ? Number.NaN : view.getFloat64(m + 8 * k, true));
      }
    }
  }

  /** Calls `visit` for each ring or line, which without ends is the only one. */
  private eachRing({ count, ends, endCount }: Coordinates, visit: (from: number, to: number) => void): void {
    let from = 0;
    for (let n = 0; n < endCount; n++) {
      const to = this.flat.view.getUint32(ends + 4 * n, true);
      if (to < from || to > count) throw this.error("the ends of its parts are not in order");
      visit(from, to);
      from = to;
    }
    if (endCount === 0) visit(0, count);
    else if (from !== count) throw this.error("it has positions after the end of its last part");
  }

  private lines(coordinates: Coordinates, builder: GeometryBuilder): void {
    let isEmpty = true;
    this.eachRing(coordinates, (from, to) => {
      if (from === to) return;
      if (isEmpty) builder.beginPart();
      isEmpty = false;
      builder.beginRing();
      this.positions(coordinates, from, to, builder);
    });
  }

  private polygon(table: number, builder: GeometryBuilder): void {
    const coordinates = this.coordinates(table);
    let isEmpty = true;
    this.eachRing(coordinates, (from, to) => {
      if (from === to) return;
      if (isEmpty && from > 0) throw this.error("a polygon has holes but no shell");
      if (isEmpty) builder.beginPart();
      isEmpty = false;
      builder.beginRing();
      this.closedRing(coordinates, from, to, builder);
    });
  }

  private closedRing(coordinates: Coordinates, from: number, to: number, builder: GeometryBuilder): void {
    const { view } = this.flat;
    this.positions(coordinates, from, to, builder);
    const [first, last] = [coordinates.xy + 16 * from, coordinates.xy + 16 * (to - 1)];
    const [x, y] = [view.getFloat64(first, true), view.getFloat64(first + 8, true)];
    if (to - from < 2 || Number.isNaN(x + y)) return;
    if (x === view.getFloat64(last, true) && y === view.getFloat64(last + 8, true)) return;
    this.positions(coordinates, from, from + 1, builder);
    this.closedRings++;
  }

  /** The tables of the parts of a geometry. */
  private parts(table: number): number[] {
    const { flat } = this;
    const at = flat.vector(table, GeometryMember.parts, 4);
    this.take(minPartBytes * flat.length);
    return Array.from({ length: flat.length }, (_, n) => flat.follow(at + 4 * n));
  }

  private typeOf(part: number, otherwise: number): number {
    return this.flat.uint8(part, GeometryMember.type) || otherwise;
  }

  private members(table: number, members: GeometryBuilder, depth: number): void {
    for (const part of this.parts(table)) {
      members.begin(Kind.none);
      this.geometry(part, this.typeOf(part, GeometryType.unknown), members, depth + 1);
      members.end();
    }
  }

  private points(table: number): CurvePoints {
    const { count, xy, z, m } = this.coordinates(table);
    const { view } = this.flat;
    const points: CurvePoints = [];
    for (let k = 0; k < count; k++) {
      const x = view.getFloat64(xy + 16 * k, true);
      const y = view.getFloat64(xy + 16 * k + 8, true);
      if (Number.isNaN(x + y)) this.hasFlaw = true;
      const height = z === 0 ? Number.NaN : view.getFloat64(z + 8 * k, true);
      points.push(x, y, height, m === 0 ? Number.NaN : view.getFloat64(m + 8 * k, true));
    }
    return points;
  }

  private ring(builder: GeometryBuilder, points: CurvePoints): void {
    if (points.length === 0) return;
    builder.beginRing();
    addPoints(builder, points);
  }

  private curve(table: number, type: number, depth: number): CurvePoints {
    if (depth >= maxNesting) throw this.error("geometries are nested too deep");
    if (type === GeometryType.lineString) return this.points(table);
    if (type === GeometryType.circularString) {
      const points = this.points(table);
      const count = points.length / 4;
      if (!isArcString(count)) throw this.error(`${count} positions do not form a circular string`);
      if (count > 0) this.curves++;
      return linearizeArcs(points);
    }
    if (type !== GeometryType.compoundCurve) throw this.error("a curve is expected here");
    const line: CurvePoints = [];
    for (const part of this.parts(table))
      appendCurveSegment(line, this.curve(part, this.typeOf(part, GeometryType.lineString), depth + 1));
    return line;
  }

  private curvePolygon(table: number, builder: GeometryBuilder, depth: number): void {
    let isEmpty = true;
    for (const [n, part] of this.parts(table).entries()) {
      const points = this.curve(part, this.typeOf(part, GeometryType.lineString), depth + 1);
      if (points.length === 0) continue;
      if (isEmpty && n > 0) throw this.error("a polygon has holes but no shell");
      if (isEmpty) builder.beginPart();
      isEmpty = false;
      if (closeRing(points)) this.closedRings++;
      this.ring(builder, points);
    }
  }

  private multiCurve(table: number, builder: GeometryBuilder, depth: number): void {
    let isEmpty = true;
    for (const part of this.parts(table)) {
      const points = this.curve(part, this.typeOf(part, GeometryType.lineString), depth + 1);
      if (points.length === 0) continue;
      if (isEmpty) builder.beginPart();
      isEmpty = false;
      this.ring(builder, points);
    }
  }

  private polygons(table: number, type: number, builder: GeometryBuilder, depth: number): void {
    const parts = this.parts(table);
    for (const part of parts) {
      const own = type === GeometryType.multiSurface ? this.typeOf(part, GeometryType.polygon) : GeometryType.polygon;
      if (own === GeometryType.curvePolygon) this.curvePolygon(part, builder, depth + 1);
      else if (own === GeometryType.polygon) this.polygon(part, builder);
      else throw this.error("a polygon is expected here");
    }
    if (parts.length > 0) return;
    // Some writers do not divide a single polygon into parts, and GDAL writes the triangles of a TIN as rings.
    if (type !== GeometryType.tin) {
      this.polygon(table, builder);
      return;
    }
    const coordinates = this.coordinates(table);
    this.eachRing(coordinates, (from, to) => {
      if (from === to) return;
      builder.beginPart();
      builder.beginRing();
      this.closedRing(coordinates, from, to, builder);
    });
  }
}
