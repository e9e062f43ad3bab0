import { type GeometryBuilder, Kind } from "../../../src/model/index.js";
import { type JsonCursor, JsonToken } from "../../shared/json/cursor.js";
import { readName, readType } from "../json/member.js";
import { CoordinateReader } from "./coordinates.js";

/** Limit of the nesting of GeometryCollections. */
const maxNesting = 64;

/** Known members; a crs of GeoJSON 2008 applies only outside the features. */
const knownMembers: ReadonlySet<string> = new Set(["bbox", "crs", "coordinates"]);

/** Reads geometry objects (RFC 7946, section 3.1) with their members in any order. */
export class GeometryParser {
  readonly coordinates = new CoordinateReader();
  /** Why the current geometry is invalid; the caller removes it. */
  problem: string | null = null;
  /** Why a part of the current geometry is unreadable; the part is NaN in the builder, and the others may stay. */
  private flaw: string | null = null;
  /** Geometries with an unreadable part, and the reason for the first. */
  unreadable = 0;
  reason = "";
  /** Positions with more than three numbers, rings closed, parts left out. */
  surplus = 0;
  closed = 0;
  dropped = 0;
  /** Members that RFC 7946 does not define, with their counts. */
  readonly foreign = new Map<string, number>();

  constructor(private readonly cursor: JsonCursor) {}

  /** Reads the geometry object at the cursor into the builder, without calling its `end`. */
  read(builder: GeometryBuilder): void {
    this.object(builder, 0);
    this.settle(builder);
  }

  /** Rejects a geometry without a readable part. */
  private settle(builder: GeometryBuilder): void {
    const { flaw } = this;
    if (flaw === null) return;
    this.flaw = null;
    if (this.problem !== null) return;
    if (!builder.hasReadablePart()) this.problem = flaw;
    else if (this.unreadable++ === 0) this.reason = flaw;
  }

  private object(builder: GeometryBuilder, depth: number): void {
    const { cursor } = this;
    let kind = 0;
    let written = 0;
    let coordinatesAt = -1;
    let geometriesAt = -1;
    let typed = false;
    cursor.at++;
    let byte = cursor.space();
    while (byte !== 125) {
      if (byte !== 34) cursor.fail("a name in quotes");
      const name = readName(cursor);
      byte = cursor.colon();
      const { at } = cursor;
      if (name === "type") {
        typed = true;
        const type = readType(cursor);
        kind = type <= Kind.GeometryCollection ? type : 0;
      } else if (name === "coordinates" && kind !== Kind.GeometryCollection) {
        coordinatesAt = at;
        this.coordinates.read(cursor);
      } else if (name === "geometries" && kind === Kind.GeometryCollection && written === 0) {
        written = kind;
        this.members(builder, depth, byte);
      } else {
        if (name === "geometries") geometriesAt = at;
        else if (!knownMembers.has(name)) this.foreign.set(name, (this.foreign.get(name) ?? 0) + 1);
        cursor.value();
      }
      byte = cursor.nextMember();
    }
    cursor.at++;
    if (kind === 0) {
      this.problem ??= typed ? "its geometry has a type that GeoJSON does not have" : "its geometry has no type";
    } else if (written !== 0 && (written !== kind || geometriesAt >= 0)) {
      this.problem ??= "its geometry has two types or two lists of geometries";
    } else if (kind === Kind.GeometryCollection) {
      if (written === 0) this.membersAt(builder, depth, geometriesAt);
    } else if (coordinatesAt < 0) this.problem ??= "its geometry has no coordinates";
    else this.writeCoordinates(builder, kind);
  }

  /** Writes the last coordinates as a geometry of this kind, without calling the builder's `end`. */
  write(builder: GeometryBuilder, kind: number): void {
    this.writeCoordinates(builder, kind);
    this.settle(builder);
  }

  private writeCoordinates(builder: GeometryBuilder, kind: number): void {
    const { coordinates } = this;
    const problem = coordinates.write(builder, kind);
    if (problem !== null) this.problem ??= problem;
    this.flaw ??= coordinates.flaw;
    this.surplus += coordinates.surplus;
    this.closed += coordinates.closed;
    this.dropped += coordinates.dropped;
  }

  /** Rereads members that came before the type, which is now known. */
  private membersAt(builder: GeometryBuilder, depth: number, at: number): void {
    if (at < 0) {
      this.problem ??= "its GeometryCollection has no geometries";
      return;
    }
    const { cursor } = this;
    const after = cursor.at;
    cursor.at = at;
    this.members(builder, depth, cursor.bytes[at]!);
    cursor.at = after;
  }

  private members(builder: GeometryBuilder, depth: number, byte: number): void {
    const { cursor } = this;
    if (byte !== 91 || depth >= maxNesting) {
      this.problem ??=
        byte === 91
          ? `its GeometryCollections are nested more than ${maxNesting} deep`
          : "its geometries are not an array";
      cursor.value();
      return;
    }
    builder.begin(Kind.GeometryCollection);
    const inner = builder.beginMembers();
    cursor.at++;
    let next = cursor.space();
    while (next !== 93) {
      this.member(inner, depth, next);
      next = cursor.space();
      if (next === 44) {
        cursor.at++;
        next = cursor.space();
        if (next === 93) cursor.surplusCommas++;
      } else if (next !== 93) cursor.fail("',' or ']'");
    }
    cursor.at++;
  }

  private member(inner: GeometryBuilder, depth: number, byte: number): void {
    if (byte === 123) {
      const { problem } = this;
      this.problem = null;
      this.object(inner, depth + 1);
      if (this.problem === null) inner.end();
      else this.gap(inner, this.problem);
      this.problem = problem;
    } else if (this.cursor.value() !== JsonToken.null)
      this.gap(inner, "a member of its GeometryCollection is not a geometry");
    else this.dropped++;
  }

  /** Records an unreadable member of a collection. */
  private gap(inner: GeometryBuilder, reason: string): void {
    this.flaw ??= reason;
    inner.cancel();
    inner.addPoint(Number.NaN, Number.NaN);
  }
}
