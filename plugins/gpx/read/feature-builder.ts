import { Batch, type Field, GeometryBuilder, Kind } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { coordinateField, Gpx, gpxTypeField, gpxTypes, linksField, segmentField, standardFields } from "../elements.js";
import type { ShapePoint } from "../route-shape.js";
import { BatchColumns } from "./batch-columns.js";
import { MemberPaths } from "./member-paths.js";
import type { ValuePath } from "./paths.js";
import { PointValues } from "./point-values.js";
import type { GpxField } from "./scan-result.js";
import type { GpxLink, GpxVisitor } from "./visitor.js";

/** A batch is full with this many features, or this many points. */
const maxBatchRows = 1000;
const maxBatchPoints = 1 << 16;

const noticeMessages = {
  "segment-empty": "a track segment without points was left out",
  "line-of-one-point": "a route or track of a single point became a point",
  "route-shape":
    "positions that Garmin's devices put between the points of a route (gpxx:rpt) are values of the points before them; --in routeShape=yes reads them into the line",
} as const;
const lossMessages = {
  "point-without-place": "a point of a line whose lat or lon is missing or not a number was left out",
  "degenerate-part": "a track segment of one point beside others was left out; only GPX can hold it",
  "height-invalid": "an ele that is not a number was left out",
  "extension-left-out": "extensions of a track segment that did not become a line were left out",
  "text-left-out":
    "text in a feature between its elements, where GPX does not allow it, was left out: a tag may be damaged there",
  "point-values-left-out": "values of points with more than 256 names, or repeated ones, were left out",
} as const;

const typeNames = gpxTypes.map((name) => Buffer.from(name));

/** The geometry types that geoferry's writer can declare, and the numbers of lines for which each is valid. */
const kindByOriginalType: Readonly<
  Record<string, { readonly kind: number; readonly lines: (count: number) => boolean }>
> = {
  Point: { kind: Kind.Point, lines: (count) => count === 0 },
  MultiPoint: { kind: Kind.MultiPoint, lines: (count) => count === 0 },
  LineString: { kind: Kind.LineString, lines: (count) => count <= 1 },
  MultiLineString: { kind: Kind.MultiLineString, lines: () => true },
};

/** Builds batches from the features of the selected kinds. */
export class FeatureBuilder implements GpxVisitor {
  readonly wantsPlaces = true;
  /** The number of features, including rejected ones. */
  records: number;
  private readonly rows: BatchColumns;
  private geometry = new GeometryBuilder();
  private readonly rowRecords = new Uint32Array(maxBatchRows);
  private kind = 0;
  private byte = 0;
  private readonly links: GpxLink[] = [];
  private values = new PointValues();
  private readonly pointLinks: GpxLink[] = [];
  /** Positions between this route point and the next. */
  private readonly shape: ShapePoint[] = [];
  private readonly json = new TextBuffer(4096);
  /** The geometry type before geoferry wrote it; empty for none. */
  private originalType = "";
  /** The number of lines of this feature, and of points in the open one. */
  private lines = 0;
  private segments = 0;
  private linePoints = 0;
  private longitude = 0;
  private latitude = 0;
  /** The first point of a line; the line begins with the second. */
  private readonly first = { longitude: 0, latitude: 0, height: 0 };
  /** The only point of the first line, while no line has more than one. */
  private readonly lone = { longitude: 0, latitude: 0, height: 0 };
  private loneValues = new PointValues();
  private onePointLines = 0;
  private readonly standardColumns: readonly number[];
  private readonly typeColumn: number;
  private readonly linksColumn: number;
  private readonly coordinateColumn: number;
  private readonly segmentColumn: number;
  /** The values of this feature's segments. */
  private readonly segmentValues = new PointValues();
  /** The elements that the values of points and segments came from, by name. */
  private readonly pointMembers = new MemberPaths();
  private readonly segmentMembers = new MemberPaths();
  private fields: readonly Field[];
  private readonly pathColumns: number[] = [];
  private readonly pathKeys: string[] = [];
  private readonly notices = new Map<keyof typeof noticeMessages, number>();
  private readonly lost = new Map<keyof typeof lossMessages, number>();

  constructor(
    private readonly reader: XmlReader,
    fields: readonly GpxField[],
    private readonly kinds: readonly boolean[],
    private readonly lineOptions: { readonly shortLines: boolean; readonly routeShape: boolean },
    private readonly context: ReadContext,
    before: number,
  ) {
    this.records = before;
    this.rows = new BatchColumns(fields, reader.content, (code, field, example) =>
      context.reportLoss(code, field, example),
    );
    const { rows } = this;
    const renamed = new Map(fields.flatMap(({ name, standard }) => (standard === undefined ? [] : [[standard, name]])));
    this.standardColumns = standardFields.map(({ name }) => rows.find(renamed.get(name) ?? name));
    this.typeColumn = rows.find(gpxTypeField);
    this.linksColumn = rows.find(linksField);
    this.coordinateColumn = rows.find(coordinateField);
    this.segmentColumn = rows.find(segmentField);
    this.fields = rows.fields;
  }

  get full(): boolean {
    return this.rows.length >= maxBatchRows || this.geometry.positionCount >= maxBatchPoints;
  }

  root(): void {}
  unknown(): void {}
  declaration(): void {}
  metadata(): void {}
  leftOut(): void {}

  strayText(isBeside: boolean): void {
    if (!isBeside) this.lose("text-left-out");
  }

  begin(kind: number): boolean {
    if (!this.kinds[kind]) return false;
    this.kind = kind;
    this.byte = this.reader.byte;
    this.records++;
    this.originalType = "";
    this.lines = this.segments = this.linePoints = this.onePointLines = 0;
    if (this.links.length > 0) this.links.length = 0;
    this.values.clear();
    this.segmentValues.clear();
    this.reader.content.clear();
    if (kind !== Gpx.wpt) this.geometry.begin(Kind.LineString);
    return true;
  }

  standard(index: number, bytes: Buffer, from: number, to: number): void {
    const column = this.standardColumns[index]!;
    if (to > from || this.rows.declares(column)) this.rows.keep(column, bytes, from, to);
  }

  extension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.rows.keep(this.columnOf(path), bytes, from, to);
  }

  attribute(path: ValuePath, value: string): void {
    this.rows.keepText(this.columnOf(path), value);
  }

  private columnOf(path: ValuePath): number {
    this.pathColumns[path.index] ??= path.name === gpxTypeField ? -1 : this.rows.find(path.name);
    return this.pathColumns[path.index]!;
  }

  link(link: GpxLink): void {
    this.links.push(link);
  }

  geometryType(): void {
    this.originalType = this.reader.content.text();
  }

  segment(): boolean {
    if (this.segments++ > 0) this.endLine();
    this.values.segment();
    return true;
  }

  segmentExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    if (!this.keepsSegmentValue(path)) return;
    const fits = path.own
      ? this.segmentValues.own(path.name, bytes, from, to)
      : this.segmentValues.value(path.name, bytes, from, to);
    if (!fits) this.leaveOut(path.name);
  }

  segmentAttribute(path: ValuePath, value: string): void {
    if (!this.keepsSegmentValue(path)) return;
    const bytes = Buffer.from(value);
    if (!this.segmentValues.value(path.name, bytes, 0, bytes.length)) this.leaveOut(path.name);
  }

  segmentExtended(): void {}

  /** Whether the segment becomes a line, and the layer has a field for segment values. */
  private keepsSegmentValue(path: ValuePath): boolean {
    if (!this.isLine || this.segmentColumn < 0) {
      this.lose("extension-left-out");
      return false;
    }
    this.segmentMembers.add(path.name, path);
    return true;
  }

  /** Whether a line of one point stays a line. */
  private get keepsShort(): boolean {
    return this.lineOptions.shortLines || this.originalType === "LineString" || this.originalType === "MultiLineString";
  }

  /** Whether the points so far are enough for a line. */
  private get isLine(): boolean {
    return this.linePoints > 1 || (this.linePoints === 1 && this.keepsShort);
  }

  /** Ends a line. */
  private endLine(): void {
    const { linePoints, lone, first, isLine } = this;
    this.linePoints = 0;
    if (isLine) this.segmentValues.endPoint();
    if (linePoints === 0 && this.kind === Gpx.trk) this.notice("segment-empty");
    if (linePoints !== 1) return;
    if (isLine) this.openLine();
    else if (this.onePointLines++ === 0 && this.lines === 0) {
      Object.assign(lone, first);
      const { values } = this;
      this.values = this.loneValues;
      this.loneValues = values;
      this.values.clear();
    } else this.values.dropSegment();
  }

  /** Begins a line with its first point. */
  private openLine(): void {
    if (this.lines++ === 0) this.geometry.beginPart();
    this.geometry.beginRing();
    this.position(this.first);
  }

  private position(point: { longitude: number; latitude: number; height: number }): void {
    const { longitude, latitude, height } = point;
    if (Number.isNaN(height)) this.geometry.addPosition(longitude, latitude);
    else this.geometry.addPositionZM(longitude, latitude, height, Number.NaN);
  }

  beginPoint(longitude: number, latitude: number): boolean {
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) {
      this.lose("point-without-place");
      return false;
    }
    this.longitude = longitude;
    this.latitude = latitude;
    return true;
  }

  pointStandard(index: number, bytes: Buffer, from: number, to: number): void {
    if (to === from) return;
    const { name, type } = standardFields[index]!;
    const key = pluralNames[index]!;
    const fits =
      type === "double" || type === "int32"
        ? this.values.number(key, bytes, from, to)
        : this.values.text(key, bytes, from, to);
    if (!fits) this.leaveOut(name);
  }

  pointExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    const key = this.keyOf(path);
    const fits = path.own
      ? this.values.own(key, bytes, from, to)
      : to > from && this.values.value(key, bytes, from, to);
    if (!fits && to > from) this.leaveOut(path.name);
  }

  pointAttribute(path: ValuePath, value: string): void {
    const bytes = Buffer.from(value);
    if (!this.values.value(this.keyOf(path), bytes, 0, bytes.length)) this.leaveOut(path.name);
  }

  pointShape(path: ValuePath, point: ShapePoint): void {
    if (this.lineOptions.routeShape) this.shape.push(point);
    else {
      this.notice("route-shape");
      if (!this.values.member(this.keyOf(path), point)) this.leaveOut(path.name);
    }
  }

  private keyOf(path: ValuePath): string {
    const known = this.pathKeys[path.index];
    if (known !== undefined) return known;
    const key = path.own ? path.name : pluralFieldName(path.name);
    this.pathKeys[path.index] = key;
    this.pointMembers.add(key, path);
    return key;
  }

  private leaveOut(name: string): void {
    this.context.reportLoss("point-values-left-out", name, lossMessages["point-values-left-out"]);
  }

  pointLink(link: GpxLink): void {
    this.pointLinks.push(link);
  }

  endPoint(height: number): void {
    this.addPoint(height);
    if (this.pointLinks.length > 0) {
      if (!this.values.json(linksField, this.pointLinks.map(compactLink))) this.leaveOut(linksField);
      this.pointLinks.length = 0;
    }
    this.values.endPoint();
    if (this.shape.length > 0) this.addShape();
  }

  /** Adds the positions between this route point and the next to the line. */
  private addShape(): void {
    for (const { lat, lon } of this.shape) {
      const [x, y] = [lon, lat].map((each) => (each === "" ? Number.NaN : Number(each)));
      if (!this.beginPoint(x!, y!)) continue;
      this.addPoint(Number.NaN);
      this.values.endPoint();
    }
    this.shape.length = 0;
  }

  private addPoint(height: number): void {
    this.linePoints++;
    if (this.linePoints === 1) {
      this.first.longitude = this.longitude;
      this.first.latitude = this.latitude;
      this.first.height = height;
    } else {
      if (this.linePoints === 2) this.openLine();
      if (Number.isNaN(height)) this.geometry.addPosition(this.longitude, this.latitude);
      else this.geometry.addPositionZM(this.longitude, this.latitude, height, Number.NaN);
    }
  }

  badHeight(): void {
    this.lose("height-invalid");
  }

  end(longitude: number, latitude: number, height: number): void {
    if (this.kind === Gpx.wpt) {
      if (!this.endWaypoint(longitude, latitude, height)) return;
    } else {
      this.endLines();
      this.geometry.end();
    }
    this.keepDerived();
    this.rowRecords[this.rows.length] = this.records;
    this.rows.end();
  }

  /** @returns false where it is rejected, because it has no position */
  private endWaypoint(longitude: number, latitude: number, height: number): boolean {
    const { geometry, first } = this;
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) {
      this.reject();
      if (this.context.keepsBadGeometries) geometry.addNull();
      return this.context.keepsBadGeometries;
    }
    first.longitude = longitude;
    first.latitude = latitude;
    first.height = height;
    geometry.beginSinglePart(Kind.Point);
    this.position(first);
    geometry.end();
    return true;
  }

  private endLines(): void {
    const { geometry } = this;
    if (this.segments > 0 || this.kind === Gpx.rte) this.endLine();
    if (this.lines > 0 || this.onePointLines === 0) {
      geometry.begin(this.kindOfLines());
      if (this.onePointLines > 0) this.lose("degenerate-part", this.onePointLines);
      return;
    }
    this.notice("line-of-one-point");
    if (this.onePointLines > 1) this.lose("degenerate-part", this.onePointLines - 1);
    geometry.beginSinglePart(Kind.Point);
    this.position(this.lone);
    const { values } = this;
    this.values = this.loneValues;
    this.loneValues = values;
  }

  private kindOfLines(): number {
    const { lines, originalType } = this;
    const known = Object.hasOwn(kindByOriginalType, originalType) ? kindByOriginalType[originalType]! : null;
    if (known?.lines(lines)) return known.kind;
    return lines === 1 || this.kind === Gpx.rte ? Kind.LineString : Kind.MultiLineString;
  }

  /** Keeps the values that are not the text of one element. */
  private keepDerived(): void {
    const { rows, json } = this;
    rows.keepMade(this.typeColumn, typeNames[this.kind]!);
    if (this.links.length > 0) {
      json.utf8(JSON.stringify(this.links.map(compactLink)));
      rows.keepBytes(this.linksColumn, json.finish());
    }
    if (!this.segmentValues.isEmpty) {
      this.segmentValues.write(json, false);
      rows.keepBytes(this.segmentColumn, json.finish());
    }
    if (this.values.isEmpty) return;
    this.values.write(json, this.lines > 0 && this.kindOfLines() === Kind.MultiLineString);
    rows.keepBytes(this.coordinateColumn, json.finish());
  }

  private reject(): void {
    const reason = "a waypoint's lat or lon is missing or not a number";
    const place = { record: this.records, byte: this.byte };
    const { keepsBadGeometries } = this.context;
    if (!keepsBadGeometries) this.rows.cancel();
    const kept = keepsBadGeometries ? { kept: true } : {};
    this.context.reject({ code: "coordinate-invalid", reason, place, feature: null, ...kept });
  }

  private notice(code: keyof typeof noticeMessages): void {
    this.notices.set(code, (this.notices.get(code) ?? 0) + 1);
  }

  private lose(code: keyof typeof lossMessages, count = 1): void {
    this.lost.set(code, (this.lost.get(code) ?? 0) + count);
  }

  /** Returns the features since the last batch; null for none. A feature that has not ended is discarded. */
  finish(): Batch | null {
    const { rows } = this;
    const { length } = rows;
    if (length === 0) return null;
    const geometry = this.geometry.finish();
    this.geometry = new GeometryBuilder();
    const firstRecord = this.rowRecords[0]!;
    const gapless = this.rowRecords[length - 1]! - firstRecord === length - 1;
    return new Batch({
      length,
      ids: null,
      fields: this.fieldsOfBatch(),
      columns: rows.finish(),
      geometry,
      recordNumbers: gapless ? null : this.rowRecords.slice(0, length),
      firstRecord: gapless ? firstRecord : 0,
    });
  }

  /** Returns the fields, with the elements that the values of points and segments came from. */
  private fieldsOfBatch(): readonly Field[] {
    const { pointMembers, segmentMembers } = this;
    const areNew = [pointMembers.change(), segmentMembers.change()];
    if (!areNew.includes(true)) return this.fields;
    const of = new Map([
      [coordinateField, pointMembers],
      [segmentField, segmentMembers],
    ]);
    this.fields = this.rows.fields.map((field) => {
      const members = of.get(field.name)?.steps;
      return members ? { ...field, members } : field;
    });
    return this.fields;
  }

  /** Reports the notices and losses of a split, at its end. */
  report(): void {
    for (const [code, count] of this.notices) this.context.reportNotice(code, undefined, noticeMessages[code], count);
    for (const [code, count] of this.lost) this.context.reportLoss(code, undefined, lossMessages[code], count);
    this.notices.clear();
    this.lost.clear();
  }
}

/** The names of @tmcw/togeojson for the values of points: plurals, except for the heart rate. */
const pluralFieldName = (name: string): string => (name === "hr" || name === "heart" ? "heart" : `${name}s`);
const pluralNames = standardFields.map(({ name }) => pluralFieldName(name));

/** Returns a link without its null members. */
const compactLink = (link: GpxLink): Record<string, string> =>
  Object.fromEntries(Object.entries(link).filter(([, value]) => value !== null));
