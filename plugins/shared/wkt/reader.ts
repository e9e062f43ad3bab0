import { Kind } from "../../../src/model/geometry.js";
import type { GeometryBuilder } from "../../../src/model/geometry-builder.js";
import { addPoints, appendCurveSegment, type CurvePoints, closeRing, isArcString, linearizeArcs } from "../curves.js";
import type { GeometryParseError } from "../geometry-parse-error.js";
import { WktPositionReader } from "./positions.js";
import { closeParenthesis, isLetter, openParenthesis } from "./tokenizer.js";

/** Protects the call stack from malicious nesting. */
const maxNesting = 64;

const keywords: Readonly<Record<string, number>> = {
  POINT: Kind.Point,
  LINESTRING: Kind.LineString,
  LINEARRING: Kind.LineString,
  CIRCULARSTRING: Kind.LineString,
  COMPOUNDCURVE: Kind.LineString,
  POLYGON: Kind.Polygon,
  TRIANGLE: Kind.Polygon,
  CURVEPOLYGON: Kind.Polygon,
  MULTIPOINT: Kind.MultiPoint,
  MULTILINESTRING: Kind.MultiLineString,
  MULTICURVE: Kind.MultiLineString,
  MULTIPOLYGON: Kind.MultiPolygon,
  MULTISURFACE: Kind.MultiPolygon,
  POLYHEDRALSURFACE: Kind.MultiPolygon,
  TIN: Kind.MultiPolygon,
  GEOMETRYCOLLECTION: Kind.GeometryCollection,
};

/**
 * Reads WKT (OGC 06-103r4, clause 7) and EWKT (`SRID=4326;POINT (1 2)`), ignoring case, with the tags `Z`, `M`, `ZM`
 * separate, joined or omitted. Linearizes curves and closes open rings; counts both.
 */
export class WktReader extends WktPositionReader {
  /** SRID of the last text; null if it has none. */
  srid: number | null = null;

  /** Curves that were linearized, over all texts. */
  curves = 0;
  /** Texts with an unreadable part, which is NaN in the builder, and the reason for the first. */
  unreadable = 0;
  reason = "";

  /** `accepts` may refuse an SRID. */
  constructor(private readonly accepts: (srid: number) => boolean = () => true) {
    super();
  }

  /** Adds the geometry `bytes[from … to]` as one feature. @throws GeometryParseError, with nothing added */
  read(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
    this.srid = null;
    this.flaw = null;
    try {
      this.readSrid();
      this.geometry(builder, 0);
      this.skipSpace();
      if (this.at < this.end) throw this.error("more text follows the geometry");
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
    if (this.unreadable++ === 0) this.reason = flaw.message;
  }

  private readSrid(): void {
    if ((this.peek() | 32) !== 115) return;
    const found = /^\s*SRID\s*=\s*(-?\d+)\s*;/i.exec(
      Buffer.from(this.bytes.buffer, this.bytes.byteOffset + this.at, Math.min(40, this.end - this.at)).toString(
        "latin1",
      ),
    );
    if (!found) return;
    this.srid = Number(found[1]);
    if (!this.accepts(this.srid)) throw this.error(`SRID ${this.srid} differs from the others`);
    this.at += found[0].length;
  }

  /** Reads type and dimensions, up to `(` or past EMPTY. */
  private tag(): { type: string; empty: boolean } {
    const from = this.at;
    let type = this.word();
    let dimensions = "";
    if (!Object.hasOwn(keywords, type)) {
      const joined = /^(.*?)(ZM|Z|M)$/.exec(type);
      if (!joined || !Object.hasOwn(keywords, joined[1]!)) {
        this.at = from;
        throw this.error("a geometry type is missing");
      }
      type = joined[1]!;
      dimensions = joined[2]!;
    }
    let next = this.word();
    if (next === "Z" || next === "M" || next === "ZM") {
      dimensions = next;
      next = this.word();
    }
    if (next !== "" && next !== "EMPTY") throw this.error(`"${next}" stands where "(" or EMPTY belongs`);
    this.dimensions = dimensions;
    return { type, empty: next === "EMPTY" };
  }

  /** Reads a geometry without calling the builder's `end`. */
  private geometry(builder: GeometryBuilder, depth: number): void {
    const { type, empty } = this.tag();
    const kind = keywords[type]!;
    this.most = 2 + this.dimensions.length;
    this.isFirst = true;
    builder.begin(kind);
    if (kind === Kind.GeometryCollection) {
      const members = builder.beginMembers();
      if (!empty) this.members(members, depth);
      return;
    }
    if (empty) return;
    switch (type) {
      case "POINT":
        this.expect(openParenthesis);
        builder.beginPart();
        builder.beginRing();
        this.position(builder);
        this.expect(closeParenthesis);
        break;
      case "MULTIPOINT":
        this.multiPoint(builder);
        break;
      case "LINESTRING":
      case "LINEARRING":
        builder.beginPart();
        builder.beginRing();
        this.positions(builder);
        break;
      case "CIRCULARSTRING":
      case "COMPOUNDCURVE":
        builder.beginPart();
        builder.beginRing();
        addPoints(builder, this.curve(type));
        break;
      case "MULTILINESTRING":
      case "MULTICURVE":
        this.rings(builder, false);
        break;
      case "POLYGON":
      case "TRIANGLE":
      case "CURVEPOLYGON":
        this.rings(builder, true);
        break;
      default:
        this.polygons(builder);
    }
  }

  private members(members: GeometryBuilder, depth: number): void {
    if (depth >= maxNesting) throw this.error("collections are nested too deep");
    this.expect(openParenthesis);
    do {
      this.geometry(members, depth + 1);
      members.end();
    } while (this.more());
  }

  private multiPoint(builder: GeometryBuilder): void {
    let isEmpty = true;
    this.expect(openParenthesis);
    do {
      const wrapped = this.peek() === openParenthesis;
      if (!wrapped && this.emptyNext()) continue;
      if (isEmpty) {
        builder.beginPart();
        builder.beginRing();
        isEmpty = false;
      }
      if (wrapped) this.expect(openParenthesis);
      this.position(builder);
      if (wrapped) this.expect(closeParenthesis);
    } while (this.more());
  }

  private polygons(builder: GeometryBuilder): void {
    this.expect(openParenthesis);
    do {
      // A member of a MULTISURFACE may have a type.
      if (isLetter(this.peek()) && (this.emptyNext() || this.tag().empty)) continue;
      this.rings(builder, true);
    } while (this.more());
  }

  /** Reads rings or lines as one part; no part if all are empty. */
  private rings(builder: GeometryBuilder, closed: boolean): void {
    let isPart = false;
    let hasGap = false;
    this.expect(openParenthesis);
    do {
      const isPlain = this.peek() === openParenthesis;
      const points = isPlain ? null : this.ringPoints(closed);
      if (points?.length === 0) {
        hasGap = true;
        continue;
      }
      if (!isPart && closed && hasGap) throw this.error("a polygon has holes but no shell");
      if (!isPart) builder.beginPart();
      isPart = true;
      builder.beginRing();
      if (points) addPoints(builder, points);
      else if (closed) this.closedPositions(builder);
      else this.positions(builder);
    } while (this.more());
  }

  /** Reads a ring or line with a type; no positions for EMPTY. */
  private ringPoints(closed: boolean): CurvePoints {
    if (this.emptyNext()) return [];
    const { type, empty } = this.tag();
    const points = empty ? [] : this.curve(type);
    if (closed && closeRing(points)) this.closedRings++;
    return points;
  }

  /** Skips EMPTY. @returns whether it was there */
  private emptyNext(): boolean {
    const from = this.at;
    if (this.word() === "EMPTY") return true;
    this.at = from;
    return false;
  }

  private arcs(): CurvePoints {
    const points = this.points();
    if (!isArcString(points.length / 4))
      throw this.error(`${points.length / 4} positions do not form a circular string`);
    this.curves++;
    return linearizeArcs(points);
  }

  /** The positions of a curve, after its type. */
  private curve(type: string): CurvePoints {
    if (type === "LINESTRING" || type === "LINEARRING") return this.points();
    if (type === "CIRCULARSTRING") return this.arcs();
    if (type !== "COMPOUNDCURVE") throw this.error(`${type} is not a curve`);
    const line: CurvePoints = [];
    this.expect(openParenthesis);
    do appendCurveSegment(line, this.peek() === openParenthesis ? this.points() : this.curve(this.tag().type));
    while (this.more());
    return line;
  }
}
