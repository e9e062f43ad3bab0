import { type GeometryColumn, Kind } from "../../../src/model/index.js";
import { EncodedText, type TagPair, tagPair } from "../../shared/text/literal.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";

/** Decimals of longitudes and latitudes, and of heights. */
export interface CoordinatePrecision {
  readonly xy: number;
  readonly z: number;
}

/** The elements before the coordinates of each geometry of a feature. */
export interface GeometryModes {
  readonly extrude: string;
  /** Not written for points. */
  readonly tessellate: string;
  readonly altitudeMode: string;
}

export const noModes: GeometryModes = { extrude: "", tessellate: "", altitudeMode: "" };

const boundaryTags = (name: string): TagPair => ({
  open: new EncodedText(`<${name}><LinearRing>`),
  close: new EncodedText(`</LinearRing></${name}>`),
});
const geometryTags = {
  point: tagPair("Point"),
  line: tagPair("LineString"),
  polygon: tagPair("Polygon"),
  multi: tagPair("MultiGeometry"),
  coordinates: tagPair("coordinates"),
  shell: boundaryTags("outerBoundaryIs"),
  hole: boundaryTags("innerBoundaryIs"),
};

const isSimpleKind = (kind: number): boolean => kind >= Kind.Point && kind <= Kind.Polygon;

/** Writes geometries as KML's elements (OGC 07-147r2, 10). */
export class GeometryElementWriter {
  private modes: GeometryModes = noModes;

  constructor(
    private readonly out: TextBuffer,
    private readonly precision: CoordinatePrecision,
  ) {}

  /**
   * Writes feature `i`.
   * @returns whether a reader restores the same geometry type: KML has one element for all multi-geometries, whose type
   * follows from the members
   */
  write(column: GeometryColumn, i: number, modes: GeometryModes): boolean {
    this.modes = modes;
    return this.geometry(column, i);
  }

  private geometry(column: GeometryColumn, i: number): boolean {
    const kind = column.kinds[i]!;
    const part = column.partOffsets[i]!;
    const end = column.partOffsets[i + 1]!;
    switch (kind) {
      case Kind.Point:
      case Kind.LineString:
        this.line(column, kind, part < end ? column.ringOffsets[part]! : -1);
        return true;
      case Kind.Polygon:
        this.polygon(column, part < end ? part : -1);
        return true;
      case Kind.GeometryCollection:
        return this.collection(column, i);
      default:
        this.out.literal(geometryTags.multi.open);
        this.members(column, kind, part, end);
        this.out.literal(geometryTags.multi.close);
        return !this.isEmpty(column, kind, part, end);
    }
  }

  private isEmpty({ ringOffsets, positionOffsets }: GeometryColumn, kind: number, part: number, end: number): boolean {
    if (part === end) return true;
    if (kind === Kind.MultiPolygon) return false;
    const from = ringOffsets[part]!;
    const to = ringOffsets[end]!;
    return kind === Kind.MultiPoint ? positionOffsets[from] === positionOffsets[to] : from === to;
  }

  private members(column: GeometryColumn, kind: number, part: number, end: number): void {
    const { ringOffsets, positionOffsets } = column;
    if (kind === Kind.MultiPolygon) for (let p = part; p < end; p++) this.polygon(column, p);
    else if (kind === Kind.MultiLineString) {
      for (let r = ringOffsets[part]!; r < ringOffsets[end]!; r++) this.line(column, Kind.LineString, r);
    } else {
      const to = positionOffsets[ringOffsets[end]!]!;
      for (let k = positionOffsets[ringOffsets[part]!]!; k < to; k++) {
        this.open(geometryTags.point.open, false);
        this.coordinates(column, k, k + 1);
        this.out.literal(geometryTags.point.close);
      }
    }
  }

  private collection(column: GeometryColumn, i: number): boolean {
    const { members, memberOffsets } = column;
    this.out.literal(geometryTags.multi.open);
    let faithful = true;
    let common = -1;
    if (members && memberOffsets) {
      const from = memberOffsets[i]!;
      for (let k = from; k < memberOffsets[i + 1]!; k++) {
        faithful = this.geometry(members, k) && faithful;
        const kind = members.kinds[k]!;
        common = k === from || common === kind ? kind : 0;
      }
    }
    this.out.literal(geometryTags.multi.close);
    return faithful && !isSimpleKind(common);
  }

  private open(tag: EncodedText, tessellated = true): void {
    const { out, modes } = this;
    out.literal(tag);
    if (modes === noModes) return;
    out.ascii(modes.extrude);
    if (tessellated) out.ascii(modes.tessellate);
    out.ascii(modes.altitudeMode);
  }

  private line(column: GeometryColumn, kind: number, ring: number): void {
    const isPoint = kind === Kind.Point;
    const tag = isPoint ? geometryTags.point : geometryTags.line;
    this.open(tag.open, !isPoint);
    if (ring >= 0) this.coordinates(column, column.positionOffsets[ring]!, column.positionOffsets[ring + 1]!);
    this.out.literal(tag.close);
  }

  private polygon(column: GeometryColumn, part: number): void {
    const { out } = this;
    const { ringOffsets, positionOffsets } = column;
    this.open(geometryTags.polygon.open);
    const shell = part < 0 ? 0 : ringOffsets[part]!;
    const end = part < 0 ? 0 : ringOffsets[part + 1]!;
    for (let r = shell; r < end; r++) {
      const tag = r === shell ? geometryTags.shell : geometryTags.hole;
      out.literal(tag.open);
      this.coordinates(column, positionOffsets[r]!, positionOffsets[r + 1]!);
      out.literal(tag.close);
    }
    out.literal(geometryTags.polygon.close);
  }

  private coordinates(column: GeometryColumn, from: number, to: number): void {
    const { out } = this;
    out.literal(geometryTags.coordinates.open);
    for (let k = from; k < to; k++) {
      if (k > from) out.byte(32);
      this.position(column, k, 44);
    }
    out.literal(geometryTags.coordinates.close);
  }

  /** Writes a position with `separator` between its numbers: a comma, or a blank in gx:coord. */
  position({ xy, z }: GeometryColumn, k: number, separator: number): void {
    const { out, precision } = this;
    out.fixedAt(xy, 2 * k, precision.xy);
    out.byte(separator);
    out.fixedAt(xy, 2 * k + 1, precision.xy);
    if (!z || Number.isNaN(z[k]!)) return;
    out.byte(separator);
    out.fixedAt(z, k, precision.z);
  }
}

/** Summary of a feature's geometries, including members of collections. */
export class GeometryInspection {
  finite = true;
  /** Whether a height is not zero: zero heights are often written only because a program writes three numbers. */
  elevated = false;
  points = false;
  /** Whether there are lines or polygons. */
  others = false;

  constructor(
    /** The smallest height that is not rounded to zero. */
    private readonly leastHeight: number,
  ) {}

  /** Summarizes feature `i`. */
  look(column: GeometryColumn, i: number): void {
    this.finite = true;
    this.elevated = false;
    this.points = false;
    this.others = false;
    this.add(column, i);
  }

  private add(column: GeometryColumn, i: number): void {
    const { kinds, partOffsets, members, memberOffsets } = column;
    const kind = kinds[i]!;
    if (kind === Kind.GeometryCollection) {
      if (!members || !memberOffsets) return;
      for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) this.add(members, k);
      return;
    }
    if (kind !== Kind.none && partOffsets[i] !== partOffsets[i + 1]) {
      if (kind === Kind.Point || kind === Kind.MultiPoint) this.points = true;
      else this.others = true;
    }
    this.positions(column, i);
  }

  private positions({ partOffsets, ringOffsets, positionOffsets, xy, z }: GeometryColumn, i: number): void {
    const to = positionOffsets[ringOffsets[partOffsets[i + 1]!]!]!;
    for (let k = positionOffsets[ringOffsets[partOffsets[i]!]!]!; k < to; k++) {
      if (!Number.isFinite(xy[2 * k]!) || !Number.isFinite(xy[2 * k + 1]!)) this.finite = false;
      if (!z) continue;
      const height = z[k]!;
      if (Math.abs(height) >= this.leastHeight) this.elevated = true;
      if (height === Number.POSITIVE_INFINITY || height === Number.NEGATIVE_INFINITY) this.finite = false;
    }
  }
}
