/** Decodes the features of one object of a topology into batches. */
import { isUtf8 } from "node:buffer";
import { Batch, type Column, type Field, GeometryBuilder } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { JsonCursor, JsonToken } from "../../shared/json/cursor.js";
import { isIdToken, PropertyColumns } from "../../shared/json/property-columns.js";
import { createIssueReporter, RawColumn } from "../../shared/json/raw-column.js";
import type { Json } from "../../shared/json/values.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import type { GeometryDecoder } from "./geometry-decoder.js";
import { parseValue, readMembers, type TopologyDocument } from "./scan-topology.js";

const maxBatchPositions = 1 << 16;
/** Most bytes of a text in a reject. */
const maxRejectedText = 10_000;
/** Members with the geometry (TopoJSON 1.0, 2.2). */
const geometryMembers = new Set(["type", "arcs", "coordinates", "geometries"]);

export class FeatureBatches {
  private readonly cursor = new JsonCursor();
  private readonly isValid: boolean;
  private readonly properties = new PropertyColumns();
  private readonly ids = new RawColumn("id", new Uint8Array(0));
  private hasIds = false;
  private geometries = new GeometryBuilder();
  private records: number[] = [];
  private unreadable: [row: number, reason: string][] = [];
  private readonly report: ReturnType<typeof createIssueReporter>;

  /** @param fid the name of a field for the ids; undefined for none */
  constructor(
    document: TopologyDocument,
    private readonly decoder: GeometryDecoder,
    private readonly fid: string | undefined,
    private readonly context: ReadContext,
  ) {
    this.cursor.load(document.bytes);
    this.isValid = isUtf8(document.bytes);
    this.report = createIssueReporter(context);
  }

  /** @param starts where the features begin in the document */
  *read(starts: readonly number[]): Generator<Batch> {
    for (const [k, start] of starts.entries()) {
      this.feature(start, k + 1);
      const isFull = this.properties.isFull(this.records.length) || this.geometries.positionCount >= maxBatchPositions;
      if (!isFull && k < starts.length - 1) continue;
      this.context.signal.throwIfAborted();
      const batch = this.finish();
      if (batch) yield batch;
    }
    this.reportNotes();
  }

  private feature(start: number, record: number): void {
    const { cursor, records, properties, context } = this;
    const row = records.length;
    cursor.at = start;
    properties.forgetRepeated();
    if (cursor.bytes[start] !== 123) {
      cursor.value();
      this.reject("it is not an object", start, record);
      return;
    }
    const geometry: Record<string, unknown> = {};
    let isFeature = true;
    readMembers(cursor, (name, first) => {
      if (geometryMembers.has(name)) geometry[name] = parseValue(cursor);
      else if (name === "properties" && first === 123) properties.read(cursor, row);
      else if (name === "properties") isFeature &&= cursor.value() === JsonToken.null;
      else if (name === "id") this.id(row);
      else {
        if (name !== "bbox")
          context.reportLoss("foreign-member", name, "a member beside properties and geometry was left out");
        cursor.value();
      }
    });
    if (!isFeature) {
      this.reject("its properties are not an object", start, record);
      properties.clear(row);
      this.ids.clear(row);
      return;
    }
    for (const name of properties.repeated)
      context.reportLoss("duplicate-member", name, "a feature has this name more than once; the last value was kept");
    this.geometry(geometry, row);
    records.push(record);
  }

  private id(row: number): void {
    const { cursor, ids } = this;
    const { at } = cursor;
    const token = cursor.value();
    if (isIdToken(token)) {
      ids.set(row, token, at, cursor.at);
      this.hasIds = true;
    } else if (token !== JsonToken.null)
      this.context.reportNotice("id-ignored", undefined, "an id that is neither text nor a number was left out");
  }

  private geometry(object: Json, row: number): void {
    const { geometries } = this;
    try {
      geometries.addGeoJson(this.decoder.decode(object));
    } catch (error) {
      if (!(error instanceof GeometryParseError)) throw error;
      geometries.addNull();
      this.unreadable.push([row, error.message]);
    }
  }

  private reject(reason: string, start: number, record: number): void {
    const { bytes, at } = this.cursor;
    const text = bytes.toString("utf8", start, Math.min(at, start + maxRejectedText));
    const place = { record, byte: start };
    this.context.reject({ code: "feature-invalid", reason, place, feature: null, text });
  }

  private finish(): Batch | null {
    const { records, isValid } = this;
    const { bytes } = this.cursor;
    const { length } = records;
    const { fields, columns } = this.properties.finish(length, bytes, isValid, this.report);
    const ids = this.hasIds
      ? this.ids.finish(length, bytes, isValid, (code, count) => this.report(undefined, code, count))
      : null;
    const geometry = this.geometries.finish();
    const { unreadable } = this;
    this.hasIds = false;
    this.geometries = new GeometryBuilder();
    this.records = [];
    this.unreadable = [];
    if (length === 0) return null;
    const batch = new Batch({
      length,
      ids,
      ...this.withIdField(fields, columns, ids),
      geometry,
      recordNumbers: Uint32Array.from(records),
      firstRecord: 0,
    });
    return rejectUnreadableGeometries(batch, unreadable, this.context);
  }

  private withIdField(fields: Field[], columns: Column[], ids: Column | null) {
    const name = this.fid;
    if (name === undefined || !ids || fields.some((field) => field.name === name)) return { fields, columns };
    return { fields: [{ name, type: ids.type }, ...fields], columns: [ids, ...columns] };
  }

  private reportNotes(): void {
    const { context, cursor } = this;
    const { notes } = this.decoder;
    const say = (code: string, example: string, count: number) => {
      if (count > 0) context.reportNotice(code, undefined, example, count);
    };
    say("empty-part", "a line, ring or polygon without arcs was left out", notes.emptyParts);
    say("ring-closed", "an open ring was closed", notes.closedRings);
    say("extra-comma", "a comma before a closing bracket or brace was left out", cursor.surplusCommas);
    const extra = "the fourth and further numbers of positions were left out";
    if (notes.extraCoordinates > 0) context.reportLoss("extra-coordinates", undefined, extra, notes.extraCoordinates);
    cursor.surplusCommas = 0;
    Object.assign(notes, { emptyParts: 0, closedRings: 0, extraCoordinates: 0 });
  }
}
