import { isUtf8 } from "node:buffer";
import { Batch, type Column, type Field, GeometryBuilder, Kind } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { JsonCursor, JsonToken } from "../../shared/json/cursor.js";
import { isIdToken, maxBatchRows, PropertyColumns } from "../../shared/json/property-columns.js";
import { createIssueReporter, RawColumn } from "../../shared/json/raw-column.js";
import { collectionType, featureType, readName, readType, unknownType } from "../json/member.js";
import { FeatureRuns } from "./feature-runs.js";
import { FeatureTemplates } from "./feature-template.js";
import { GeometryParser } from "./geometry-parser.js";

/** Limit of the positions of a batch. */
const maxBatchPositions = 65536;
/** In a batch of more columns, features are read one by one. */
const maxRunColumns = 64;
/** What is between two features of an array, if it is short. */
const commaPattern = /^[ \n\r\t]*,[ \n\r\t]*$/;
const maxCommaBytes = 256;

export const trailingCommaMessage = "a comma before a closing bracket or brace was left out";

/** Receives reports of data loss and notices. */
export type IssueReporter = Pick<ReadContext, "reportLoss" | "reportNotice" | "keepsBadGeometries">;

/**
 * Called for valid JSON that is not a valid feature.
 * @param row the feature's row in the current batch if it stays with a null geometry; else −1
 */
export type RejectFeature = (reason: string, from: number, to: number, row: number) => void;

/**
 * Parses JSON values into features and collects them in batches. It parses the bytes directly: a feature creates only
 * its entries in the columns.
 */
export class FeatureParser {
  readonly cursor = new JsonCursor();
  /** Whether the current bytes are all UTF-8. */
  valid = true;
  private geometries = new GeometryBuilder();
  private readonly shapes = new GeometryParser(this.cursor);
  private readonly properties = new PropertyColumns();
  private readonly ids = new RawColumn("id", new Uint8Array(0));
  private readonly templates = new FeatureTemplates(this.cursor, this.properties, this.ids, (cursor) => {
    this.shapes.coordinates.read(cursor);
    return true;
  });
  private readonly runs = new FeatureRuns();
  /** The end of the feature read last in the current bytes; −1 without one. */
  private lastEnd = -1;
  private hasIds = false;
  private rows = 0;
  private rowRecords = new Uint32Array(maxBatchRows);
  /** Records in the split so far, including rejected ones. */
  records = 0;
  /** Why the current feature is invalid. */
  private problem: string | null = null;
  /** Why its geometry is invalid. */
  private geometryProblem: string | null = null;
  private hasGeometry = false;
  private hasProperties = false;
  private hasGeometryMember = false;
  /** Repetitions of a name within one feature, by name. */
  private readonly duplicates = new Map<string, number>();
  private readonly foreign = new Map<string, number>();
  private untyped = 0;
  /** Surplus commas before the current feature. */
  private commasBefore = 0;

  constructor(
    private readonly context: IssueReporter,
    private readonly refuse: RejectFeature,
    /** The name of a field that receives the ids, or undefined. */
    private readonly idField: string | undefined,
    /** The crs member of the first value, as JSON, that applies to all features; undefined if there is none. */
    private readonly crs?: string,
  ) {}

  /** Continues with these bytes; the current batch must not refer to the previous bytes any more. */
  load(bytes: Buffer): void {
    this.cursor.load(bytes);
    this.runs.load(bytes);
    this.lastEnd = -1;
    this.valid = isUtf8(bytes);
  }

  get full(): boolean {
    return this.properties.isFull(this.rows) || this.geometries.positionCount >= maxBatchPositions;
  }

  /**
   * Reads the value at the cursor: a Feature, a geometry, or, if `collections`, a FeatureCollection, all of whose
   * features join the current batch. @throws JsonSyntaxError if it is not JSON; the feature is then removed
   */
  read(collections: boolean): void {
    const start = this.cursor.at;
    const { lastEnd } = this;
    let isTemplate = false;
    this.records++;
    this.problem = this.geometryProblem = null;
    this.commasBefore = this.cursor.surplusCommas;
    this.hasGeometry = this.hasProperties = this.hasGeometryMember = false;
    this.properties.forgetRepeated();
    try {
      if (this.cursor.bytes[start] === 123) {
        isTemplate = this.readByTemplate(start);
        if (!isTemplate) {
          if (this.object(start, collections)) return;
          if (this.isPlain) this.templates.learn(start);
        }
      } else {
        this.problem = "it is not a JSON object";
        this.cursor.value();
      }
    } catch (error) {
      this.undoFeature();
      throw error;
    }
    this.settle(start);
    this.lastEnd = this.cursor.at;
    if (isTemplate && lastEnd >= 0 && this.runs.learns) this.learnRun(lastEnd, start);
  }

  /** Learns how features are written from the last one, which has a template, if it is a point. */
  private learnRun(lastEnd: number, start: number): void {
    const { templates, cursor, properties } = this;
    if (!this.isPlain || !templates.isUsual || templates.kind !== Kind.Point) return;
    if (start - lastEnd > maxCommaBytes || !commaPattern.test(cursor.bytes.toString("latin1", lastEnd, start))) return;
    const position = { start: templates.positionFrom, end: templates.positionTo };
    this.runs.learn(lastEnd, cursor.at, this.rows - 1, properties.current, position);
  }

  /**
   * Reads features of an array that are written like one before, from the end of a feature on.
   * @returns whether there were any
   */
  readRun(): boolean {
    const { runs, cursor, properties, geometries } = this;
    if (properties.count > maxRunColumns || geometries.positionCount + maxBatchRows > maxBatchPositions) return false;
    const count = runs.read(cursor.at, maxBatchRows - this.rows);
    if (count === 0) return false;
    for (const column of runs.columns) properties.activate(column);
    runs.fill(this.rows, count);
    geometries.addPoints(runs.xs(count), runs.ys(count));
    for (let n = 0; n < count; n++) this.rowRecords[this.rows++] = ++this.records;
    cursor.at = this.lastEnd = runs.end;
    return true;
  }

  /**
   * Passes over features of an array that are written like one before, from the end of a feature on.
   * @param stop the offset at which, or behind which, the last one ends
   * @returns whether there were any
   */
  skipRun(stop: number): boolean {
    const { runs, cursor } = this;
    if (runs.read(cursor.at, maxBatchRows, stop) === 0) return false;
    cursor.at = this.lastEnd = runs.end;
    return true;
  }

  /** Drops the features read since the last batch. */
  discard(): void {
    this.properties.discard();
    this.ids.discard();
    this.hasIds = false;
    this.geometries.reset();
    this.rows = 0;
  }

  /** Reads the feature by a template of earlier features; returns whether one matched. */
  private readByTemplate(start: number): boolean {
    const { templates, shapes } = this;
    if (!templates.read(this.rows)) {
      if (this.cursor.at !== start) this.undoFeature();
      this.cursor.at = start;
      this.properties.forgetRepeated();
      return false;
    }
    this.hasIds ||= templates.hasId;
    this.hasGeometry = this.hasProperties = true;
    shapes.problem = null;
    shapes.write(this.geometries, templates.kind);
    this.geometryProblem = shapes.problem;
    return true;
  }

  /** Whether the last object needed no report. */
  get isPlain(): boolean {
    const { problem, geometryProblem, hasGeometry, hasProperties, properties } = this;
    if (this.cursor.surplusCommas !== this.commasBefore) return false;
    return (
      problem === null && geometryProblem === null && hasGeometry && hasProperties && properties.repeated.length === 0
    );
  }

  private settle(start: number): void {
    const problem = this.problem ?? this.geometryProblem;
    if (problem !== null) {
      const isKept = this.problem === null && this.context.keepsBadGeometries;
      this.refuse(problem, start, this.cursor.at, isKept ? this.rows : -1);
      if (isKept) this.replaceGeometryByNull();
      else this.undoFeature();
      if (!isKept) return;
    }
    if (this.hasGeometry) this.geometries.end();
    else this.geometries.addNull();
    this.rowRecords[this.rows++] = this.records;
    for (const name of this.properties.repeated) this.duplicates.set(name, (this.duplicates.get(name) ?? 0) + 1);
  }

  private replaceGeometryByNull(): void {
    this.geometries.cancel();
    this.hasGeometry = false;
  }

  private undoFeature(): void {
    this.geometries.cancel();
    this.properties.clear(this.rows);
    this.ids.clear(this.rows);
  }

  /** Returns true if the object was a collection, whose features are complete already. */
  private object(start: number, collections: boolean): boolean {
    const { cursor } = this;
    let type = 0;
    let typeAt = 0;
    let typical = false;
    cursor.at++;
    let byte = cursor.space();
    while (byte !== 125) {
      if (byte !== 34) cursor.fail("a name in quotes");
      const name = readName(cursor);
      byte = cursor.colon();
      switch (name) {
        case "type":
          typeAt = cursor.at;
          type = readType(cursor);
          break;
        case "id":
          this.id();
          break;
        case "geometry":
          typical = true;
          this.featureGeometry(byte);
          break;
        case "properties":
          typical = true;
          this.featureProperties(byte);
          break;
        case "bbox":
          cursor.value();
          break;
        case "coordinates":
        case "geometries":
          if (type !== featureType && !typical) return this.bareGeometry(start);
          this.passForeign(name);
          break;
        case "features":
          if (type !== featureType && !typical) return this.collection(start, collections);
          this.passForeign(name);
          break;
        default:
          this.passForeign(name);
      }
      byte = cursor.nextMember();
    }
    cursor.at++;
    this.checkType(type, typeAt, typical);
    return false;
  }

  private checkType(type: number, typeAt: number, typical: boolean): void {
    if (type === featureType) return;
    if (type === 0 && typical) this.untyped++;
    else if (type === 0) this.problem ??= "it has no type";
    else if (type === collectionType) this.problem ??= "it is a FeatureCollection without features";
    else if (type === unknownType || typical) this.problem ??= `its type is ${this.valueText(typeAt)}`;
    else this.problem ??= "it is a geometry without coordinates";
  }

  /** The source text of the value at `at`, for messages. */
  private valueText(at: number): string {
    const { cursor } = this;
    const after = cursor.at;
    cursor.at = at;
    cursor.value();
    const text = cursor.bytes.toString("utf8", at, Math.min(cursor.at, at + 60));
    cursor.at = after;
    return text;
  }

  private id(): void {
    const { cursor } = this;
    const start = cursor.at;
    const token = cursor.value();
    if (token === JsonToken.null) this.ids.clear(this.rows);
    else if (isIdToken(token)) {
      if (this.ids.has(this.rows)) this.properties.repeated.push("id");
      this.ids.set(this.rows, token, start, cursor.at);
      this.hasIds = true;
    } else this.context.reportNotice("id-ignored", undefined, "an id that is neither text nor a number was left out");
  }

  private passForeign(name: string): void {
    const start = this.cursor.at;
    this.cursor.value();
    if (name === "crs" && this.crs !== undefined && this.isCrs(start)) return;
    this.foreign.set(name, (this.foreign.get(name) ?? 0) + 1);
  }

  /** Whether the value that began at `start` equals the crs member that applies to all features. */
  private isCrs(start: number): boolean {
    const { bytes, at } = this.cursor;
    try {
      const value: unknown = JSON.parse(bytes.toString("utf8", start, at));
      return JSON.stringify(value) === JSON.stringify(JSON.parse(this.crs!));
    } catch {
      return false;
    }
  }

  private featureProperties(byte: number): void {
    // The last of duplicate members counts.
    if (this.hasProperties) {
      this.properties.clear(this.rows);
      this.properties.repeated.push("properties");
    }
    this.hasProperties = true;
    if (byte === 123) {
      this.properties.read(this.cursor, this.rows);
      return;
    }
    if (this.cursor.value() !== JsonToken.null) this.problem ??= "its properties are not an object";
  }

  private featureGeometry(byte: number): void {
    if (this.hasGeometry) this.geometries.cancel();
    this.geometryProblem = null;
    if (this.hasGeometryMember) this.properties.repeated.push("geometry");
    this.hasGeometryMember = true;
    this.hasGeometry = false;
    if (byte === 123) {
      this.hasGeometry = true;
      this.geometry();
    } else if (this.cursor.value() !== JsonToken.null) this.geometryProblem = "its geometry is not an object";
  }

  private geometry(): void {
    this.shapes.problem = null;
    this.shapes.read(this.geometries);
    this.geometryProblem = this.shapes.problem;
  }

  private bareGeometry(start: number): boolean {
    this.cursor.at = start;
    this.problem = null;
    this.ids.clear(this.rows);
    this.hasGeometry = true;
    this.geometry();
    // The object consists of the geometry only.
    this.problem = this.geometryProblem;
    return false;
  }

  /** A FeatureCollection in a sequence of values: its features take its place. */
  private collection(start: number, allowed: boolean): boolean {
    const { cursor } = this;
    if (!allowed) {
      this.problem = "it is a FeatureCollection among features";
      cursor.at = start;
      cursor.value();
      return false;
    }
    this.undoFeature();
    this.records--;
    cursor.at = start + 1;
    let byte = cursor.space();
    while (byte !== 125) {
      if (byte !== 34) cursor.fail("a name in quotes");
      const name = readName(cursor);
      byte = cursor.colon();
      if (name === "features" && byte === 91) this.features();
      else if (name === "features") cursor.fail("an array of features");
      else cursor.value();
      byte = cursor.nextMember();
    }
    cursor.at++;
    return true;
  }

  private features(): void {
    const { cursor } = this;
    cursor.at++;
    let byte = cursor.space();
    while (byte !== 93) {
      this.read(false);
      byte = cursor.space();
      if (byte === 44) {
        cursor.at++;
        byte = cursor.space();
        if (byte === 93) cursor.surplusCommas++;
      } else if (byte !== 93) cursor.fail("',' or ']'");
      this.makeRoom();
    }
    cursor.at++;
  }

  private makeRoom(): void {
    if (this.rows < this.rowRecords.length) return;
    const grown = new Uint32Array(this.rows * 2);
    grown.set(this.rowRecords);
    this.rowRecords = grown;
  }

  /** The features read since the last batch, null if there are none. */
  finish(): Batch | null {
    const { rows } = this;
    const remark = createIssueReporter(this.context);
    const { bytes } = this.cursor;
    if (this.properties.isCrowded) this.runs.forget();
    const { fields, columns } = this.properties.finish(rows, bytes, this.valid, remark);
    const ids = this.hasIds
      ? this.ids.finish(rows, bytes, this.valid, (code, count) => remark(undefined, code, count))
      : null;
    this.hasIds = false;
    const geometry = this.geometries.finish();
    this.geometries = new GeometryBuilder();
    this.rows = 0;
    if (rows === 0) return null;
    const firstRecord = this.rowRecords[0]!;
    const gapless = this.rowRecords[rows - 1]! - firstRecord === rows - 1;
    return new Batch({
      length: rows,
      ids,
      ...this.withIdField(fields, columns, ids),
      geometry,
      recordNumbers: gapless ? null : this.rowRecords.slice(0, rows),
      firstRecord: gapless ? firstRecord : 0,
    });
  }

  private withIdField(fields: Field[], columns: Column[], ids: Column | null) {
    const name = this.idField;
    if (name === undefined || !ids || fields.some((field) => field.name === name)) return { fields, columns };
    return { fields: [{ name, type: ids.type }, ...fields], columns: [ids, ...columns] };
  }

  /** Reports the collected losses and notices at the end of a split. */
  reportSummary(): void {
    const { context, shapes } = this;
    const say = (code: string, count: number, example: string) => {
      if (count > 0) context.reportNotice(code, undefined, example, count);
    };
    for (const [name, count] of this.foreign) {
      context.reportLoss("foreign-member", name, "a member of a feature beside its properties was left out", count);
    }
    this.foreign.clear();
    for (const [name, count] of shapes.foreign) {
      context.reportLoss(
        "foreign-member",
        name,
        "a member of a geometry that GeoJSON does not name was left out",
        count,
      );
    }
    shapes.foreign.clear();
    for (const [name, count] of this.duplicates) {
      context.reportLoss(
        "duplicate-member",
        name,
        "a feature has this name more than once; the last value was kept",
        count,
      );
    }
    this.duplicates.clear();
    if (shapes.surplus > 0) {
      context.reportLoss(
        "extra-ordinates",
        undefined,
        "a position has more than three numbers; the rest was left out",
        shapes.surplus,
      );
    }
    say("ring-closed", shapes.closed, "the ring of a polygon did not end where it began and was closed");
    say("empty-part", shapes.dropped, "a part of a geometry without positions was left out");
    say("type-missing", this.untyped, "an object with geometry or properties but no type was taken for a Feature");
    say("part-unreadable", shapes.unreadable, shapes.reason);
    say("extra-comma", this.cursor.surplusCommas, trailingCommaMessage);
    this.cursor.surplusCommas = 0;
    shapes.surplus = shapes.closed = shapes.dropped = shapes.unreadable = this.untyped = 0;
  }
}
