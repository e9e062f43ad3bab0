import { type GeometryBuilder, Kind } from "../../../src/model/index.js";
import { PointValues } from "./point-values.js";

/** The geometry types that geoferry's writer can declare, and the numbers of lines for which each is valid. */
const kindByOriginalType: Readonly<
  Record<string, { readonly kind: number; readonly lines: (count: number) => boolean }>
> = {
  Point: { kind: Kind.Point, lines: (count) => count === 0 },
  MultiPoint: { kind: Kind.MultiPoint, lines: (count) => count === 0 },
  LineString: { kind: Kind.LineString, lines: (count) => count <= 1 },
  MultiLineString: { kind: Kind.MultiLineString, lines: () => true },
};

/** Degrees, and a height in metres, NaN for none. */
interface Position {
  longitude: number;
  latitude: number;
  height: number;
}

const origin = (): Position => ({ longitude: 0, latitude: 0, height: 0 });

export function addPosition(geometry: GeometryBuilder, longitude: number, latitude: number, height: number): void {
  if (Number.isNaN(height)) geometry.addPosition(longitude, latitude);
  else geometry.addPositionZM(longitude, latitude, height, Number.NaN);
}

/** Receives what the lines of a feature lose. */
export interface LineReports {
  notice(code: "segment-empty" | "line-of-one-point"): void;
  loss(code: "degenerate-part", count: number): void;
}

/** Builds the lines of a route or track: a route is one, a track has one for each segment. */
export class LineBuilder {
  /** The geometry type before geoferry wrote it; empty for none. */
  originalType = "";
  /** The values of the feature's points, and of its segments. */
  values = new PointValues();
  readonly segmentValues = new PointValues();
  private geometry!: GeometryBuilder;
  private hasSegments = false;
  /** The number of lines of the feature, and of points in the open one. */
  private lines = 0;
  private segments = 0;
  private points = 0;
  /** The first point of a line; the line begins with the second. */
  private readonly first = origin();
  /** The only point of the first line, while no line has more than one. */
  private readonly lone = origin();
  private loneValues = new PointValues();
  private onePointLines = 0;

  constructor(
    /** Whether all lines of one point stay lines. */
    private readonly shortLines: boolean,
    private readonly reports: LineReports,
  ) {}

  /** Begins a feature. @param hasSegments whether it has a line for each segment, not one line in all */
  begin(hasSegments: boolean, geometry: GeometryBuilder): void {
    this.hasSegments = hasSegments;
    this.geometry = geometry;
    this.originalType = "";
    this.lines = this.segments = this.points = this.onePointLines = 0;
    this.values.clear();
    this.segmentValues.clear();
    geometry.begin(Kind.LineString);
  }

  beginSegment(): void {
    if (this.segments++ > 0) this.endLine();
    this.values.segment();
  }

  /** Adds a point; its values are added before or after. */
  addPoint(longitude: number, latitude: number, height: number): void {
    const { first } = this;
    this.points++;
    if (this.points === 1) {
      first.longitude = longitude;
      first.latitude = latitude;
      first.height = height;
    } else {
      if (this.points === 2) this.openLine();
      addPosition(this.geometry, longitude, latitude, height);
    }
  }

  /** Whether the points so far are enough for a line. */
  get isLine(): boolean {
    return this.points > 1 || (this.points === 1 && this.keepsShort);
  }

  /** Whether a line of one point stays a line. */
  private get keepsShort(): boolean {
    return this.shortLines || this.originalType === "LineString" || this.originalType === "MultiLineString";
  }

  /** Begins a line with its first point. */
  private openLine(): void {
    if (this.lines++ === 0) this.geometry.beginPart();
    this.geometry.beginRing();
    this.addStored(this.first);
  }

  private addStored({ longitude, latitude, height }: Position): void {
    addPosition(this.geometry, longitude, latitude, height);
  }

  private endLine(): void {
    const { points, lone, first, isLine } = this;
    this.points = 0;
    if (isLine) this.segmentValues.endPoint();
    if (points === 0 && this.hasSegments) this.reports.notice("segment-empty");
    if (points !== 1) return;
    if (isLine) this.openLine();
    else if (this.onePointLines++ === 0 && this.lines === 0) {
      Object.assign(lone, first);
      this.swapValues();
      this.values.clear();
    } else this.values.dropSegment();
  }

  /** Exchanges the values of the lone point and those of the lines. */
  private swapValues(): void {
    const { values } = this;
    this.values = this.loneValues;
    this.loneValues = values;
  }

  /** Ends the route or track. Where it has a single point, it becomes a point. */
  end(): void {
    const { geometry, reports } = this;
    if (this.segments > 0 || !this.hasSegments) this.endLine();
    if (this.lines > 0 || this.onePointLines === 0) {
      geometry.begin(this.geometryKind());
      if (this.onePointLines > 0) reports.loss("degenerate-part", this.onePointLines);
    } else {
      reports.notice("line-of-one-point");
      if (this.onePointLines > 1) reports.loss("degenerate-part", this.onePointLines - 1);
      geometry.beginSinglePart(Kind.Point);
      this.addStored(this.lone);
      this.swapValues();
    }
    geometry.end();
  }

  private geometryKind(): number {
    const { lines, originalType } = this;
    const known = Object.hasOwn(kindByOriginalType, originalType) ? kindByOriginalType[originalType]! : null;
    if (known?.lines(lines)) return known.kind;
    return lines === 1 || !this.hasSegments ? Kind.LineString : Kind.MultiLineString;
  }

  /** Whether the feature that ended has several lines by its type. */
  get isMultiLine(): boolean {
    return this.lines > 0 && this.geometryKind() === Kind.MultiLineString;
  }
}
