import { Batch, type Field, GeometryBuilder, Kind } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { addPosition } from "../../shared/tracks/line-builder.js";
import { BatchColumns, type ElementField } from "../../shared/xml/batch-columns.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { coordinateField, courseField, lapsField, Tcx, tcxKinds, tcxTypeField, trackpointField } from "../elements.js";
import { FeatureReports } from "./feature-reports.js";
import type { ParentValues } from "./scan-result.js";
import { TrackPoints } from "./track-points.js";
import type { ValuePath } from "./value-paths.js";
import type { Parents, TcxVisitor } from "./visitor.js";

/** A batch is full with this many features, or this many points. */
const maxBatchRows = 1000;
const maxBatchPoints = 1 << 16;

const typeNames = tcxKinds.map((name) => Buffer.from(name));
const transition = Buffer.from("transition");

/** A course point waits until its course ends, whose line is before it. */
interface CoursePoint {
  readonly byte: number;
  readonly values: (readonly [field: string, text: string])[];
  longitude: number;
  latitude: number;
  height: number;
}

/** Builds batches from the features of the selected kinds. */
export class FeatureBuilder implements TcxVisitor {
  /** The number of features, including rejected ones. */
  records: number;
  readonly fields: readonly Field[];
  private readonly rows: BatchColumns;
  private geometry = new GeometryBuilder();
  private rowRecords: number[] = [];
  private kind = 0;
  private isTransition = false;
  private courseName = "";
  private readonly courseLaps: Map<string, string[]>[] = [];
  private readonly coursePoints: CoursePoint[] = [];
  private readonly reports: FeatureReports;
  private readonly points: TrackPoints;
  private readonly json = new TextBuffer(4096);

  constructor(
    private readonly reader: XmlReader,
    fields: readonly ElementField[],
    /** Whether each kind of features is read. */
    private readonly kinds: readonly boolean[],
    private readonly parents: readonly ParentValues[],
    shortLines: boolean,
    private readonly context: ReadContext,
    before: number,
  ) {
    this.records = before;
    this.reports = new FeatureReports(context);
    this.points = new TrackPoints(shortLines, this.reports);
    this.rows = new BatchColumns(fields, reader.content, (code, field, example) =>
      context.reportLoss(code, field, example),
    );
    this.fields = this.rows.fields;
  }

  get full(): boolean {
    return this.rows.length >= maxBatchRows || this.geometry.positionCount >= maxBatchPoints;
  }

  /** Whether the open feature, a lap or course, is read itself. */
  private get isRead(): boolean {
    return this.kinds[this.kind]!;
  }

  begin(kind: number, isTransition: boolean, parents: Parents): boolean {
    if (!this.kinds[kind] && !(kind === Tcx.course && this.kinds[Tcx.coursePoint])) return false;
    this.kind = kind;
    this.isTransition = isTransition;
    this.courseName = "";
    this.courseLaps.length = this.coursePoints.length = 0;
    this.reader.content.clear();
    if (!this.isRead) return true;
    this.records++;
    this.points.begin(this.geometry);
    for (const parent of [parents.session, parents.activity])
      for (const [field, text] of this.parents[parent] ?? []) this.rows.keepText(this.rows.find(field), text);
    return true;
  }

  parentValue(): void {}

  value({ name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    if (this.kind === Tcx.course && name === "name") this.courseName = bytes.toString("utf8", from, to);
    if (this.isRead) this.rows.keep(this.rows.find(name), bytes, from, to);
  }

  beginCourseLap(): void {
    this.courseLaps.push(new Map());
  }

  courseLapValue({ name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    const values = this.courseLaps.at(-1)!;
    const text = bytes.toString("utf8", from, to);
    const known = values.get(name);
    if (known) known.push(text);
    else values.set(name, [text]);
  }

  beginCoursePoint(): void {
    const place = { longitude: Number.NaN, latitude: Number.NaN, height: Number.NaN };
    this.coursePoints.push({ byte: this.reader.byte, values: [], ...place });
  }

  coursePointValue({ name }: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.coursePoints.at(-1)!.values.push([name, bytes.toString("utf8", from, to)]);
  }

  endCoursePoint(longitude: number, latitude: number, height: number): void {
    Object.assign(this.coursePoints.at(-1)!, { longitude, latitude, height });
  }

  beginTrack(): void {
    this.points.beginTrack();
  }

  beginTrackpoint(): boolean {
    this.points.beginPoint();
    return this.isRead;
  }

  pointValue(path: ValuePath, bytes: Buffer, from: number, to: number): void {
    this.points.add(path, bytes, from, to);
  }

  endTrackpoint(longitude: number, latitude: number, height: number): void {
    this.points.endPoint(longitude, latitude, height);
  }

  badHeight(): void {
    this.reports.loss("height-invalid");
  }

  strayText(): void {
    this.reports.loss("text-left-out");
  }

  surplusValue(): void {
    this.reports.loss("extension-left-out");
  }

  end(): void {
    if (this.isRead) this.endLine();
    if (this.kinds[Tcx.coursePoint]) for (const point of this.coursePoints) this.addCoursePoint(point);
    this.coursePoints.length = 0;
  }

  private endLine(): void {
    const { rows, points, json, courseLaps, kind } = this;
    points.end();
    rows.keepFinal(rows.find(tcxTypeField), this.isTransition ? transition : typeNames[kind]!);
    if (courseLaps.length === 1) {
      for (const [name, texts] of courseLaps[0]!) for (const text of texts) rows.keepText(rows.find(name), text);
    } else if (courseLaps.length > 1) this.keepLaps();
    if (points.hasValues || points.hasUnplacedValues) {
      points.write(json);
      rows.keepBytes(rows.find(points.hasValues ? coordinateField : trackpointField), json.finish());
    }
    this.endRow(this.records);
  }

  private keepLaps(): void {
    const { rows, json } = this;
    const laps = this.courseLaps.map((values) =>
      Object.fromEntries([...values].map(([name, texts]) => [name, texts.length === 1 ? jsonOf(texts[0]!) : texts])),
    );
    json.utf8(JSON.stringify(laps));
    rows.keepBytes(rows.find(lapsField), json.finish());
  }

  private addCoursePoint({ byte, values, longitude, latitude, height }: CoursePoint): void {
    const { rows, geometry, context } = this;
    this.records++;
    this.reader.content.clear();
    rows.keepFinal(rows.find(tcxTypeField), typeNames[Tcx.coursePoint]!);
    if (this.courseName !== "") rows.keepText(rows.find(courseField), this.courseName);
    for (const [name, text] of values) rows.keepText(rows.find(name), text);
    if (Number.isFinite(longitude) && Number.isFinite(latitude)) {
      geometry.beginSinglePart(Kind.Point);
      addPosition(geometry, longitude, latitude, height);
      geometry.end();
    } else {
      const reason = "the latitude or longitude of a course point is missing or not a number";
      const { keepsBadGeometries } = context;
      const kept = keepsBadGeometries ? { kept: true } : {};
      const place = { record: this.records, byte };
      context.reject({ code: "coordinate-invalid", reason, place, feature: null, ...kept });
      if (!keepsBadGeometries) {
        rows.cancel();
        return;
      }
      geometry.addNull();
    }
    this.endRow(this.records);
  }

  private endRow(record: number): void {
    this.rowRecords.push(record);
    this.rows.end();
    this.reader.content.clear();
  }

  /** Returns the features since the last batch; null for none. A feature that has not ended is discarded. */
  finish(): Batch | null {
    const { rows, rowRecords } = this;
    const { length } = rows;
    if (length === 0) return null;
    const geometry = this.geometry.finish();
    this.geometry = new GeometryBuilder();
    this.rowRecords = [];
    const firstRecord = rowRecords[0]!;
    const gapless = rowRecords[length - 1]! - firstRecord === length - 1;
    return new Batch({
      length,
      ids: null,
      fields: this.fields,
      columns: rows.finish(),
      geometry,
      recordNumbers: gapless ? null : Uint32Array.from(rowRecords),
      firstRecord: gapless ? firstRecord : 0,
    });
  }

  /** Reports the notices and losses of a split, at its end. */
  report(): void {
    this.reports.report();
  }
}

/** A number where the text is its shortest form, else the text. */
function jsonOf(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? number : text;
}
