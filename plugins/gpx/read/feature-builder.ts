import { Batch, type Field, GeometryBuilder, Kind } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { addPosition, LineBuilder } from "../../shared/tracks/line-builder.js";
import { BatchColumns } from "../../shared/xml/batch-columns.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { coordinateField, Gpx, gpxTypeField, gpxTypes, linksField, segmentField, standardFields } from "../elements.js";
import type { ShapePoint } from "../route-shape.js";
import { FeatureReports } from "./feature-reports.js";
import { MemberPaths } from "./member-paths.js";
import type { ValuePath } from "./paths.js";
import type { GpxField } from "./scan-result.js";
import type { FeatureVisitor, GpxLink } from "./visitor.js";

/** A batch is full with this many features, or this many points. */
const maxBatchRows = 1000;
const maxBatchPoints = 1 << 16;

const typeNames = gpxTypes.map((name) => Buffer.from(name));

/** Builds batches from the features of the selected kinds. */
export class FeatureBuilder implements FeatureVisitor {
  readonly wantsPlaces = true;
  /** The number of features, including rejected ones. */
  records: number;
  private readonly rows: BatchColumns;
  private geometry = new GeometryBuilder();
  private readonly rowRecords = new Uint32Array(maxBatchRows);
  private kind = 0;
  private byte = 0;
  private readonly links: GpxLink[] = [];
  private readonly pointLinks: GpxLink[] = [];
  /** Positions between this route point and the next. */
  private readonly shape: ShapePoint[] = [];
  private readonly reports: FeatureReports;
  private readonly lines: LineBuilder;
  private readonly json = new TextBuffer(4096);
  private longitude = 0;
  private latitude = 0;
  private readonly standardColumns: readonly number[];
  private readonly typeColumn: number;
  private readonly linksColumn: number;
  private readonly coordinateColumn: number;
  private readonly segmentColumn: number;
  /** The elements that the values of points and segments came from, by name. */
  private readonly pointMembers = new MemberPaths();
  private readonly segmentMembers = new MemberPaths();
  private fields: readonly Field[];
  private readonly pathColumns: number[] = [];
  private readonly pathKeys: string[] = [];
  constructor(
    private readonly reader: XmlReader,
    fields: readonly GpxField[],
    private readonly kinds: readonly boolean[],
    private readonly options: { readonly shortLines: boolean; readonly routeShape: boolean },
    private readonly context: ReadContext,
    before: number,
  ) {
    this.records = before;
    this.reports = new FeatureReports(context);
    this.lines = new LineBuilder(options.shortLines, this.reports);
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

  strayText(): void {
    this.reports.loss("text-left-out");
  }

  begin(kind: number): boolean {
    if (!this.kinds[kind]) return false;
    this.kind = kind;
    this.byte = this.reader.byte;
    this.records++;
    if (this.links.length > 0) this.links.length = 0;
    this.reader.content.clear();
    if (kind !== Gpx.wpt) this.lines.begin(kind === Gpx.trk, this.geometry);
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
    this.lines.originalType = this.reader.content.text();
  }

  segment(): boolean {
    this.lines.beginSegment();
    return true;
  }

  segmentExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    if (!this.keepsSegmentValue(path)) return;
    const { segmentValues } = this.lines;
    const fits = path.own
      ? segmentValues.own(path.name, bytes, from, to)
      : segmentValues.value(path.name, bytes, from, to);
    if (!fits) this.reports.valueLeftOut(path.name);
  }

  segmentAttribute(path: ValuePath, value: string): void {
    if (!this.keepsSegmentValue(path)) return;
    const bytes = Buffer.from(value);
    if (!this.lines.segmentValues.value(path.name, bytes, 0, bytes.length)) this.reports.valueLeftOut(path.name);
  }

  /** Whether the segment becomes a line, and the layer has a field for segment values. */
  private keepsSegmentValue(path: ValuePath): boolean {
    if (!this.lines.isLine || this.segmentColumn < 0) {
      this.reports.loss("extension-left-out");
      return false;
    }
    this.segmentMembers.add(path.name, path);
    return true;
  }

  beginPoint(longitude: number, latitude: number): boolean {
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) {
      this.reports.loss("point-without-place");
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
    const { values } = this.lines;
    const fits =
      type === "double" || type === "int32" ? values.number(key, bytes, from, to) : values.text(key, bytes, from, to);
    if (!fits) this.reports.valueLeftOut(name);
  }

  pointExtension(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    const key = this.keyOf(path);
    const { values } = this.lines;
    const fits = path.own ? values.own(key, bytes, from, to) : to > from && values.value(key, bytes, from, to);
    if (!fits && to > from) this.reports.valueLeftOut(path.name);
  }

  pointAttribute(path: ValuePath, value: string): void {
    const bytes = Buffer.from(value);
    if (!this.lines.values.value(this.keyOf(path), bytes, 0, bytes.length)) this.reports.valueLeftOut(path.name);
  }

  pointShape(path: ValuePath, point: ShapePoint): void {
    if (this.options.routeShape) this.shape.push(point);
    else {
      this.reports.notice("route-shape");
      if (!this.lines.values.member(this.keyOf(path), point)) this.reports.valueLeftOut(path.name);
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

  pointLink(link: GpxLink): void {
    this.pointLinks.push(link);
  }

  endPoint(height: number): void {
    this.lines.addPoint(this.longitude, this.latitude, height);
    if (this.pointLinks.length > 0) {
      if (!this.lines.values.json(linksField, this.pointLinks.map(compactLink))) this.reports.valueLeftOut(linksField);
      this.pointLinks.length = 0;
    }
    this.lines.values.endPoint();
    if (this.shape.length > 0) this.addShape();
  }

  /** Adds the positions between this route point and the next to the line. */
  private addShape(): void {
    for (const { lat, lon } of this.shape) {
      const [x, y] = [lon, lat].map((each) => (each === "" ? Number.NaN : Number(each)));
      if (!this.beginPoint(x!, y!)) continue;
      this.lines.addPoint(x!, y!, Number.NaN);
      this.lines.values.endPoint();
    }
    this.shape.length = 0;
  }

  badHeight(): void {
    this.reports.loss("height-invalid");
  }

  end(longitude: number, latitude: number, height: number): void {
    if (this.kind === Gpx.wpt) {
      if (!this.endWaypoint(longitude, latitude, height)) return;
    } else {
      this.lines.end();
    }
    this.keepDerived();
    this.rowRecords[this.rows.length] = this.records;
    this.rows.end();
  }

  /** @returns false where it is rejected, because it has no position */
  private endWaypoint(longitude: number, latitude: number, height: number): boolean {
    const { geometry } = this;
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) {
      this.reject();
      if (this.context.keepsBadGeometries) geometry.addNull();
      return this.context.keepsBadGeometries;
    }
    geometry.beginSinglePart(Kind.Point);
    addPosition(geometry, longitude, latitude, height);
    geometry.end();
    return true;
  }

  /** Keeps the values that are not the text of one element. */
  private keepDerived(): void {
    const { rows, json } = this;
    rows.keepFinal(this.typeColumn, typeNames[this.kind]!);
    if (this.links.length > 0) {
      json.utf8(JSON.stringify(this.links.map(compactLink)));
      rows.keepBytes(this.linksColumn, json.finish());
    }
    if (this.kind === Gpx.wpt) return;
    const { segmentValues, values } = this.lines;
    if (!segmentValues.isEmpty) {
      segmentValues.write(json, false);
      rows.keepBytes(this.segmentColumn, json.finish());
    }
    if (values.isEmpty) return;
    values.write(json, this.lines.isMultiLine);
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
    this.reports.report();
  }
}

/** The names of @tmcw/togeojson for the values of points: plurals, except for the heart rate. */
const pluralFieldName = (name: string): string => (name === "hr" || name === "heart" ? "heart" : `${name}s`);
const pluralNames = standardFields.map(({ name }) => pluralFieldName(name));

/** Returns a link without its null members. */
const compactLink = (link: GpxLink): Record<string, string> =>
  Object.fromEntries(Object.entries(link).filter(([, value]) => value !== null));
