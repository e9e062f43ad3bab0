import { type GeometryBuilder, type GeometryColumn, Kind, positionRange } from "../../src/model/geometry.js";
import { addPoints, type CurvePoints, close, join, linearise } from "./curves.js";
import { parseNumber, type TextBuffer } from "./numbers.js";

/** Why a text or a blob is no geometry, and where in it. */
export class GeometryTextError extends Error {
  constructor(
    reason: string,
    readonly offset: number,
  ) {
    super(reason);
  }
}

/** Deeper nesting than any data has; it guards the stack. */
const mostNested = 64;

const words: Readonly<Record<string, number>> = {
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

const open = 40;
const shut = 41;
const comma = 44;

const minus = 45;
const point = 46;
const zero = 48;

/** Powers of ten that a double holds exactly, as far as `plain` needs them. */
const powers = Float64Array.from({ length: 16 }, (_, n) => Number(`1e${n}`));

const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13);
const isLetter = (byte: number) => (byte | 32) >= 97 && (byte | 32) <= 122;

/**
 * Reads WKT (OGC 06-103r4, clause 7) and EWKT (`SRID=4326;POINT (1 2)`), in any case, with `Z`, `M`, `ZM` apart,
 * joined or left out. Curves become lines; open rings are closed and counted. Without a tag, the first position of a
 * geometry says how many numbers there are (6.1.2 wants them alike): what others have beyond is dropped and counted.
 */
export class WktReader {
  private bytes: Uint8Array = new Uint8Array();
  private at = 0;
  private end = 0;
  /** Of the text read last; null where it names none. */
  srid: number | null = null;
  /** Rings that had to be closed, over all texts. */
  closedRings = 0;
  /** Positions with numbers that the first of their geometry does not have, over all texts. */
  shortened = 0;

  /** `accepts` may refuse an SRID. */
  constructor(private readonly accepts: (srid: number) => boolean = () => true) {}

  /** Adds the geometry `bytes[from … to]` as one feature. @throws GeometryTextError, with nothing added */
  read(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
    this.srid = null;
    try {
      this.readSrid();
      this.geometry(builder, 0);
      this.skipSpace();
      if (this.at < this.end) throw this.error("more text follows the geometry");
    } catch (error) {
      builder.cancel();
      throw error;
    }
    builder.end();
  }

  private error(reason: string): GeometryTextError {
    return new GeometryTextError(reason, this.at);
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
    if (!this.accepts(this.srid)) throw this.error(`SRID ${this.srid} is not that of the others`);
    this.at += found[0].length;
  }

  private skipSpace(): void {
    while (this.at < this.end && isSpace(this.bytes[this.at]!)) this.at++;
  }

  private peek(): number {
    this.skipSpace();
    return this.at < this.end ? this.bytes[this.at]! : -1;
  }

  private expect(byte: number): void {
    if (this.peek() !== byte) throw this.error(`"${String.fromCharCode(byte)}" is missing`);
    this.at++;
  }

  /** After an item of a list: whether another one follows. */
  private more(): boolean {
    const byte = this.peek();
    if (byte !== comma && byte !== shut) throw this.error('"," or ")" is missing');
    this.at++;
    return byte === comma;
  }

  private word(): string {
    this.skipSpace();
    const from = this.at;
    while (this.at < this.end && isLetter(this.bytes[this.at]!)) this.at++;
    let text = "";
    for (let i = from; i < this.at; i++) text += String.fromCharCode(this.bytes[i]! & 0xdf);
    return text;
  }

  /** The dimensions that the next positions have by their tag, "" where it does not say. */
  private dimensions = "";
  /** The most numbers that a position of this geometry may have: by its tag, or by its first position. */
  private most = 2;
  private isFirst = true;

  /** Type and dimensions, the text standing before `(` or after EMPTY then: null for EMPTY. */
  private tag(): { type: string; empty: boolean } {
    const from = this.at;
    let type = this.word();
    let dimensions = "";
    if (!Object.hasOwn(words, type)) {
      const joined = /^(.*?)(ZM|Z|M)$/.exec(type);
      if (!joined || !Object.hasOwn(words, joined[1]!)) {
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

  /** Everything of a geometry but its `end()`. */
  private geometry(builder: GeometryBuilder, depth: number): void {
    const { type, empty } = this.tag();
    const kind = words[type]!;
    this.most = 2 + this.dimensions.length;
    this.isFirst = true;
    builder.begin(kind);
    if (kind === Kind.GeometryCollection) {
      const members = builder.collection();
      if (!empty) this.members(members, depth);
      return;
    }
    if (empty) return;
    switch (type) {
      case "POINT":
        this.expect(open);
        builder.part();
        builder.ring();
        this.position(builder);
        this.expect(shut);
        break;
      case "MULTIPOINT":
        this.multiPoint(builder);
        break;
      case "LINESTRING":
      case "LINEARRING":
        builder.part();
        builder.ring();
        this.positions(builder);
        break;
      case "CIRCULARSTRING":
      case "COMPOUNDCURVE":
        builder.part();
        builder.ring();
        addPoints(builder, this.curve(type));
        break;
      case "MULTILINESTRING":
      case "MULTICURVE":
        builder.part();
        this.rings(builder, false);
        break;
      case "POLYGON":
      case "TRIANGLE":
      case "CURVEPOLYGON":
        builder.part();
        this.rings(builder, true);
        break;
      default:
        this.polygons(builder);
    }
  }

  private members(members: GeometryBuilder, depth: number): void {
    if (depth >= mostNested) throw this.error("collections are nested too deep");
    this.expect(open);
    do {
      this.geometry(members, depth + 1);
      members.end();
    } while (this.more());
  }

  private multiPoint(builder: GeometryBuilder): void {
    this.expect(open);
    builder.part();
    builder.ring();
    do {
      if (this.peek() === open) {
        this.at++;
        this.position(builder);
        this.expect(shut);
      } else if (!this.emptyNext()) this.position(builder);
    } while (this.more());
  }

  private polygons(builder: GeometryBuilder): void {
    this.expect(open);
    do {
      // A member of a MULTISURFACE may say its type.
      if (isLetter(this.peek()) && (this.emptyNext() || this.tag().empty)) continue;
      builder.part();
      this.rings(builder, true);
    } while (this.more());
  }

  private rings(builder: GeometryBuilder, closed: boolean): void {
    this.expect(open);
    do {
      const byte = this.peek();
      if (byte === open) {
        builder.ring();
        if (closed) this.closedPositions(builder);
        else this.positions(builder);
        continue;
      }
      if (this.emptyNext()) continue;
      const points = this.curve(this.tag().type);
      if (closed && close(points)) this.closedRings++;
      builder.ring();
      addPoints(builder, points);
    } while (this.more());
  }

  /** Whether EMPTY stands here; it is passed then. */
  private emptyNext(): boolean {
    const from = this.at;
    if (this.word() === "EMPTY") return true;
    this.at = from;
    return false;
  }

  /** The positions of a curve whose type was just read. */
  private curve(type: string): CurvePoints {
    if (type === "LINESTRING" || type === "LINEARRING") return this.points();
    if (type === "CIRCULARSTRING") return linearise(this.points());
    if (type !== "COMPOUNDCURVE") throw this.error(`${type} is no curve`);
    const line: CurvePoints = [];
    this.expect(open);
    do join(line, this.peek() === open ? this.points() : this.curve(this.tag().type));
    while (this.more());
    return line;
  }

  private points(): CurvePoints {
    const points: CurvePoints = [];
    this.expect(open);
    do {
      this.numbers();
      points.push(this.x, this.y, this.z, this.m);
    } while (this.more());
    return points;
  }

  private positions(builder: GeometryBuilder): void {
    this.expect(open);
    while (this.nextPosition(builder));
  }

  private closedPositions(builder: GeometryBuilder): void {
    this.expect(open);
    let more = this.nextPosition(builder);
    const { x, y, z, m } = this;
    const isOne = !more;
    while (more) more = this.nextPosition(builder);
    if (isOne || (this.x === x && this.y === y)) return;
    builder.positionZM(x, y, z, m);
    this.closedRings++;
  }

  /** A position and the sign behind it; whether another one follows. */
  private nextPosition(builder: GeometryBuilder): boolean {
    const { bytes, at, found } = this;
    let next = this.plain(bytes[at] === 32 ? at + 1 : at, 0);
    if (next > 0 && bytes[next] === 32) {
      next = this.plain(next + 1, 1);
      let count = 2;
      if (next > 0 && bytes[next] === 32) {
        next = this.plain(next + 1, 2);
        count = 3;
      }
      const byte = next > 0 ? bytes[next]! : 0;
      if ((byte === comma || byte === shut) && (count <= this.most || this.isFirst)) {
        this.at = next + 1;
        this.x = found[0]!;
        this.y = found[1]!;
        this.z = Number.NaN;
        this.m = Number.NaN;
        if (this.isFirst && count > this.most) this.most = count;
        this.isFirst = false;
        if (count === 2) builder.position(found[0]!, found[1]!);
        else {
          if (this.dimensions === "M") this.m = found[2]!;
          else this.z = found[2]!;
          builder.positionZM(this.x, this.y, this.z, this.m);
        }
        return byte === comma;
      }
    }
    this.position(builder);
    return this.more();
  }

  /** What `plain` found; here, as a number that a method returns is an object each. */
  private readonly found = new Float64Array(3);

  /**
   * Finds a number at `start`: digits and perhaps a point, 15 digits at most, and something behind. Gives where it ends;
   * −1 for any other, which is left to `parseNumber`.
   */
  private plain(start: number, slot: number): number {
    const { bytes } = this;
    const negative = bytes[start] === minus;
    const from = negative ? start + 1 : start;
    let i = from;
    let digit = bytes[i]! - zero;
    // Integers of 32 bits hold nine digits, and are quicker than doubles.
    let whole = 0;
    while (digit >= 0 && digit <= 9) {
      whole = (Math.imul(whole, 10) + digit) | 0;
      digit = bytes[++i]! - zero;
    }
    const wholes = i - from;
    let value = whole;
    let decimals = 0;
    if (digit === point - zero) {
      const first = ++i;
      const ninth = first + 9;
      let fraction = 0;
      digit = bytes[i]! - zero;
      while (digit >= 0 && digit <= 9 && i < ninth) {
        fraction = (Math.imul(fraction, 10) + digit) | 0;
        digit = bytes[++i]! - zero;
      }
      let rest = 0;
      while (digit >= 0 && digit <= 9) {
        rest = (Math.imul(rest, 10) + digit) | 0;
        digit = bytes[++i]! - zero;
      }
      decimals = i - first;
      if (decimals > 15) return -1;
      const power = powers[decimals]!;
      value = decimals <= 9 ? whole * power + fraction : whole * power + fraction * powers[decimals - 9]! + rest;
      value /= power;
    }
    if (i >= this.end || wholes > 9 || wholes + decimals > 15 || wholes + decimals === 0) return -1;
    this.found[slot] = negative ? -value : value;
    return i;
  }

  private position(builder: GeometryBuilder): void {
    this.numbers();
    if (Number.isNaN(this.z) && Number.isNaN(this.m)) builder.position(this.x, this.y);
    else builder.positionZM(this.x, this.y, this.z, this.m);
  }

  private x = 0;
  private y = 0;
  private z = 0;
  private m = 0;

  private numbers(): void {
    this.x = this.number(false);
    this.y = this.number(false);
    this.z = Number.NaN;
    this.m = Number.NaN;
    const third = this.peek();
    let count = 2;
    if (third !== comma && third !== shut) {
      const value = this.number(true);
      if (this.dimensions === "M") this.m = value;
      else this.z = value;
      count = 3;
      const fourth = this.peek();
      if (fourth !== comma && fourth !== shut) {
        this.m = this.number(true);
        count = 4;
      }
    }
    if (this.isFirst) {
      this.most = Math.max(this.most, count);
      this.isFirst = false;
    } else if (count > this.most) this.shorten();
  }

  private shorten(): void {
    this.shortened++;
    this.m = Number.NaN;
    if (this.most < 3) this.z = Number.NaN;
  }

  private number(mayLack: boolean): number {
    this.skipSpace();
    const { bytes, end } = this;
    const from = this.at;
    let i = from;
    while (i < end) {
      const byte = bytes[i]!;
      if (byte === comma || byte === shut || byte === open || isSpace(byte)) break;
      i++;
    }
    const value = parseNumber(bytes, from, i);
    if (!Number.isFinite(value) && !(mayLack && isNan(bytes, from, i))) throw this.error("a number is missing");
    this.at = i;
    return value;
  }
}

const isNan = (bytes: Uint8Array, from: number, to: number) =>
  to - from === 3 && (bytes[from]! | 32) === 110 && (bytes[from + 1]! | 32) === 97 && (bytes[from + 2]! | 32) === 110;

const names = [
  "",
  "POINT",
  "LINESTRING",
  "POLYGON",
  "MULTIPOINT",
  "MULTILINESTRING",
  "MULTIPOLYGON",
  "GEOMETRYCOLLECTION",
];

/** Whether any position of feature i has a height or measure, members of collections included. */
export function dimensionsOf(column: GeometryColumn, i: number): { readonly z: boolean; readonly m: boolean } {
  let [z, m] = [false, false];
  const [from, to] = positionRange(column, i);
  for (let k = from; k < to; k++) {
    if (column.z && !Number.isNaN(column.z[k]!)) z = true;
    if (column.m && !Number.isNaN(column.m[k]!)) m = true;
  }
  if (column.kinds[i] === Kind.GeometryCollection && column.members && column.memberOffsets) {
    for (let k = column.memberOffsets[i]!; k < column.memberOffsets[i + 1]!; k++) {
      const member = dimensionsOf(column.members, k);
      z ||= member.z;
      m ||= member.m;
    }
  }
  return { z, m };
}

/**
 * Writes geometries as WKT, with `Z`, `M` and `ZM` tags. Positions without a height or measure, in a geometry with them,
 * have 0: numbers of WKT are never NaN (OGC 06-103r4, 7.2.2).
 */
export class WktWriter {
  private z = false;
  private m = false;
  /** Positions that got the height 0, over all geometries. */
  missingZ = 0;
  /** Positions that got the measure 0. */
  missingM = 0;

  /** `decimals` of x and y; null writes the shortest text that is exact, as it always does for z and m. */
  constructor(
    private readonly out: TextBuffer,
    private readonly decimals: number | null,
  ) {}

  /** Feature i, which must not be a null geometry. */
  write(column: GeometryColumn, i: number): void {
    const { z, m } = dimensionsOf(column, i);
    this.z = z;
    this.m = m;
    this.geometry(column, i);
  }

  /** Members of a collection have its dimensions. */
  private geometry(column: GeometryColumn, i: number): void {
    const { out, z, m } = this;
    const kind = column.kinds[i]!;
    out.ascii(names[kind]!);
    if (z || m) out.ascii(z && m ? " ZM" : z ? " Z" : " M");
    if (kind === Kind.GeometryCollection) {
      this.members(column, i);
      return;
    }
    const from = column.partOffsets[i]!;
    const to = column.partOffsets[i + 1]!;
    const [first, last] = positionRange(column, i);
    if (first === last) {
      out.ascii(" EMPTY");
      return;
    }
    out.byte(32);
    if (kind === Kind.MultiPolygon) {
      for (let p = from; p < to; p++) {
        out.byte(p === from ? open : comma);
        this.part(column, p);
      }
      out.byte(shut);
    } else if (kind === Kind.Polygon || kind === Kind.MultiLineString) this.part(column, from);
    else this.ring(column, column.ringOffsets[from]!, kind === Kind.MultiPoint);
  }

  private members(column: GeometryColumn, i: number): void {
    const { out } = this;
    const from = column.memberOffsets ? column.memberOffsets[i]! : 0;
    const to = column.memberOffsets ? column.memberOffsets[i + 1]! : 0;
    if (from === to || !column.members) {
      out.ascii(" EMPTY");
      return;
    }
    out.byte(32);
    for (let k = from; k < to; k++) {
      out.byte(k === from ? open : comma);
      this.geometry(column.members, k);
    }
    out.byte(shut);
  }

  private part(column: GeometryColumn, p: number): void {
    const from = column.ringOffsets[p]!;
    for (let r = from; r < column.ringOffsets[p + 1]!; r++) {
      this.out.byte(r === from ? open : comma);
      this.ring(column, r, false);
    }
    this.out.byte(shut);
  }

  private ring(column: GeometryColumn, r: number, wrapped: boolean): void {
    const { out } = this;
    const from = column.positionOffsets[r]!;
    const to = column.positionOffsets[r + 1]!;
    if (from === to) {
      out.ascii("EMPTY");
      return;
    }
    for (let k = from; k < to; k++) {
      out.byte(k === from ? open : comma);
      if (wrapped) out.byte(open);
      this.position(column, k);
      if (wrapped) out.byte(shut);
    }
    out.byte(shut);
  }

  private position(column: GeometryColumn, k: number): void {
    const { out, decimals } = this;
    const x = column.xy[2 * k]!;
    const y = column.xy[2 * k + 1]!;
    if (decimals === null) {
      out.number(x);
      out.byte(32);
      out.number(y);
    } else {
      out.fixed(x, decimals);
      out.byte(32);
      out.fixed(y, decimals);
    }
    if (this.z) {
      out.byte(32);
      const z = column.z ? column.z[k]! : Number.NaN;
      if (Number.isNaN(z)) this.missingZ++;
      out.number(Number.isNaN(z) ? 0 : z);
    }
    if (this.m) {
      out.byte(32);
      const m = column.m ? column.m[k]! : Number.NaN;
      if (Number.isNaN(m)) this.missingM++;
      out.number(Number.isNaN(m) ? 0 : m);
    }
  }
}
