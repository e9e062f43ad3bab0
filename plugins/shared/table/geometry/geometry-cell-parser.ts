import type { Geometry } from "../../../../src/model/geometry.js";
import { GeometryBuilder } from "../../../../src/model/geometry-builder.js";
import { nonFinitePositionMessage } from "../../wkb/cursor.js";
import { WkbReader } from "../../wkb/index.js";
import { GeometryParseError, WktReader } from "../../wkt/index.js";

/** Nesting of the arrays of `coordinates` by geometry type (RFC 7946, 3.1). */
const nestingByType: Readonly<Record<string, number>> = {
  Point: 0,
  LineString: 1,
  MultiPoint: 1,
  Polygon: 2,
  MultiLineString: 2,
  MultiPolygon: 3,
};

const isPosition = (value: readonly unknown[]): boolean =>
  value.length >= 2 && value.every((n) => typeof n === "number" && Number.isFinite(n));

/**
 * Whether the value is an array of coordinates. Records in `flaws` why a malformed position, which becomes NaN, was
 * rejected.
 */
function isCoordinateArray(value: unknown, depth: number, flaws: Set<string>): boolean {
  if (!Array.isArray(value)) return false;
  if (depth > 0) return value.every((item) => isCoordinateArray(item, depth - 1, flaws));
  if (isPosition(value)) return true;
  if (value.some((item) => typeof item === "object" && item !== null)) return false;
  flaws.add("its coordinates are not an array of numbers");
  value.splice(0, value.length, Number.NaN, Number.NaN);
  return true;
}

function isGeoJsonGeometry(value: unknown, flaws: Set<string>, nesting = 0): value is Geometry {
  if (typeof value !== "object" || value === null || nesting > 64) return false;
  const { type, coordinates, geometries } = value as { type?: unknown; coordinates?: unknown; geometries?: unknown };
  if (type === "GeometryCollection") {
    return Array.isArray(geometries) && geometries.every((member) => isGeoJsonGeometry(member, flaws, nesting + 1));
  }
  if (typeof type !== "string" || !Object.hasOwn(nestingByType, type)) return false;
  if (type === "Point" && Array.isArray(coordinates) && coordinates.length === 0) return true;
  return isCoordinateArray(coordinates, nestingByType[type]!, flaws);
}

const isHex = (byte: number) => (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 102);

/** Words for a missing geometry. */
export const missingWords: ReadonlySet<string> = new Set(["null", "none", "nan", "na", "n/a", "-", "\\n"]);

/** Parses cells of WKT, EWKT, hexadecimal WKB or GeoJSON; the beginning of the cell determines which. */
export class GeometryCellParser {
  private readonly wkt: WktReader;
  private readonly wkb: WkbReader;
  /** SRID of the last cell; null if it names none. */
  srid: number | null = null;

  /** `accepts` may refuse an SRID. */
  constructor(accepts?: (srid: number) => boolean) {
    this.wkt = new WktReader(accepts);
    this.wkb = new WkbReader(accepts);
  }

  /** Rings that had to be closed, in all cells. */
  get closedRings(): number {
    return this.wkt.closedRings + this.wkb.closedRings;
  }

  /** Curves approximated by lines, in all cells. */
  get curves(): number {
    return this.wkt.curves + this.wkb.curves;
  }

  /** Positions that lost coordinates because the first position of their geometry has fewer, in all cells. */
  get shortened(): number {
    return this.wkt.shortened;
  }

  /** Cells with an unreadable part of the geometry. */
  get unreadable(): number {
    return this.wkt.unreadable + this.wkb.unreadable + this.partlyRead;
  }

  /** Reason for the first of them. */
  get reason(): string {
    if (this.wkt.unreadable > 0) return this.wkt.reason;
    return this.wkb.unreadable > 0 ? nonFinitePositionMessage : this.jsonReason;
  }

  private partlyRead = 0;
  private jsonReason = "";

  /** Adds one feature. @throws GeometryParseError, with nothing added */
  read(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    let start = from;
    let end = to;
    while (start < end && bytes[start]! <= 32) start++;
    while (end > start && bytes[end - 1]! <= 32) end--;
    this.srid = null;
    if (bytes[start] === 123) this.json(bytes, start, end, builder);
    else if (bytes[start] === 48 || (bytes[start] === 92 && bytes[start + 1] === 120)) {
      this.wkb.readHex(bytes, bytes[start] === 92 ? start + 2 : start, end, builder);
      this.srid = this.wkb.srid;
    } else if (end - start <= 4 && missingWords.has(firstWord(bytes, start, end))) builder.addNull();
    else {
      this.wkt.read(bytes, start, end, builder);
      this.srid = this.wkt.srid;
    }
  }

  private json(bytes: Uint8Array, from: number, to: number, builder: GeometryBuilder): void {
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8"));
    } catch {
      throw new GeometryParseError("neither WKT nor JSON", from);
    }
    const geometry =
      typeof value === "object" && value !== null && "geometry" in value && "type" in value && value.type === "Feature"
        ? value.geometry
        : value;
    const flaws = new Set<string>();
    if (geometry !== null && !isGeoJsonGeometry(geometry, flaws))
      throw new GeometryParseError("no GeoJSON geometry", from);
    for (const flaw of flaws) this.keepParts(flaw, geometry, from);
    builder.addGeoJson(geometry);
  }

  /** Keeps the readable parts of a geometry. @throws GeometryParseError if no part is readable */
  private keepParts(flaw: string, geometry: Geometry | null, from: number): void {
    const trial = new GeometryBuilder();
    trial.addGeoJson(geometry);
    if (!trial.hasReadablePart(0)) throw new GeometryParseError(flaw, from);
    this.partlyRead++;
    this.jsonReason = flaw;
  }
}

function firstWord(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from)
    .toString("latin1")
    .toLowerCase();
}

/** Whether a cell without leading spaces names an SRID: as EWKT prefix, or as EWKB type flag. */
export function namesSrid(bytes: Uint8Array, from: number, to: number): boolean {
  if ((bytes[from]! | 32) === 115) return true;
  const start = bytes[from] === 92 && bytes[from + 1] === 120 ? from + 2 : from;
  if (bytes[start] !== 48 || start + 10 > to) return false;
  // The byte order determines whether the highest byte of the type comes first.
  const high = bytes[start + 1] === 48 ? start + 2 : start + 8;
  return (Number.parseInt(String.fromCharCode(bytes[high]!), 16) & 2) !== 0;
}

const wktStart =
  /^(SRID\s*=\s*-?\d+\s*;\s*)?(MULTI|LINE|POINT|POLY|CIRCULAR|COMPOUND|CURVE|GEOMETRYC|TIN|TRIANGLE)[A-Z]*\s*(Z|M|ZM)?\s*(\(|EMPTY)/i;

/** Byte order and type, from a point to a collection, in ISO's or PostGIS's codes (OGC 06-103r4, 8.2.8); a point is shortest. */
const wkbStart =
  /^(\\x)?(01(0[1-7]|e[9a-f]|d[1-7]|b[9a-f])(00|03|07|0b)00[02468ace]0|00[02468ace]000(00|03|07|0b)(0[1-7]|e[9a-f]|d[1-7]|b[9a-f]))[0-9a-f]{32}/i;

/** As `looksLikeGeometry`, for a column whose name says nothing: its values can be nothing else. */
export function isSurelyGeometry(text: string): boolean {
  const start = text.slice(0, 200).trimStart();
  const isGeoJson = /^\{\s*"/.test(start) && /"type"\s*:/.test(start) && /"(coordinates|geometries)"\s*:/.test(start);
  return isGeoJson || wktStart.test(start) || wkbStart.test(start);
}

/** Whether a text looks like a geometry; does not check that it is well-formed. */
export function looksLikeGeometry(text: string): boolean {
  const start = text.slice(0, 200).trimStart();
  if (wktStart.test(start)) return true;
  if (/^\{\s*"/.test(start)) return /"(type|coordinates|geometries)"/.test(start);
  const hex = start.startsWith("\\x") ? start.slice(2) : start;
  return /^0[01]/.test(hex) && hex.length >= 18 && [...hex.slice(0, 64)].every((c) => isHex(c.charCodeAt(0)));
}
