/** Turns the bytes of features into batches. */
import { Batch, type Field, GeometryBuilder, initialRowCapacity } from "../../../src/model/index.js";
import { createError, type ReadContext, type Source } from "../../../src/plugin/index.js";
import { GeometryParseError } from "../../shared/geometry-parse-error.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { reportWkbRepairs } from "../../shared/wkb/report-repairs.js";
import { FlatDamage, FlatReader } from "../header/flat-reader.js";
import { GeometryReader } from "./geometry-reader.js";
import type { FgbPlan } from "./plan.js";
import { PropertyTable } from "./property-table.js";

/** Indexes of the members of Feature (feature.fbs). */
const FeatureMember = { geometry: 0, properties: 1, columns: 2 } as const;

const sizeBytes = 4;
const maxBatchRows = 1024;
const maxBatchBytes = 1 << 18;

export class FeatureReader {
  private readonly flat = new FlatReader();
  private readonly builder = new GeometryBuilder();
  private readonly geometry: GeometryReader;
  private readonly properties: PropertyTable;
  private readonly fields: readonly Field[];
  private readonly maxRows: number;

  constructor(
    private readonly source: Source,
    private readonly plan: FgbPlan,
    private readonly context: ReadContext,
  ) {
    const { columns } = plan;
    this.maxRows = Math.min(maxBatchRows, initialRowCapacity(Math.max(1, columns.length)));
    this.geometry = new GeometryReader(this.flat, this.builder, plan);
    this.properties = new PropertyTable(columns, this.maxRows, context);
    this.fields = columns.map(({ field }) => field);
  }

  /**
   * Reads the features in `bytes`, which are those of the file from `position` on.
   * @param firstRecord the record number of the first one
   * @returns the number of features, also of those that were skipped
   * @throws input-corrupt, input-truncated, unsupported
   */
  *read(bytes: Uint8Array, position: number, firstRecord: number): Generator<Batch, number> {
    const view = dataViewOf(bytes);
    let record = firstRecord;
    for (let at = 0; at < bytes.length; ) {
      const start = at;
      const numbers = new Uint32Array(this.maxRows);
      const unreadable: [row: number, reason: string][] = [];
      let rows = 0;
      let skipped = 0;
      while (at < bytes.length && rows < this.maxRows && at - start < maxBatchBytes) {
        const end = this.featureEnd(view, at, bytes.length, position, record);
        if (end < 0) return this.skipRest(bytes.length - at, position + at, record) + record - firstRecord;
        if (this.feature(view, at, end, rows, position, record, unreadable)) numbers[rows++] = record;
        else skipped++;
        record++;
        at = end;
      }
      if (rows === 0) continue;
      const columns = this.fields.map((_, c) => this.properties.column(c, rows, bytes, view));
      const batch = new Batch({
        length: rows,
        ids: null,
        fields: this.fields,
        columns,
        geometry: this.builder.finish(),
        recordNumbers: skipped > 0 ? numbers.slice(0, rows) : null,
        firstRecord: numbers[0]!,
      });
      this.builder.reset();
      this.reportRepairs();
      yield rejectUnreadableGeometries(batch, unreadable, this.context);
    }
    return record - firstRecord;
  }

  /** The end of the feature at `at`; −1 if it is not within the bytes, and that may be skipped. */
  private featureEnd(view: DataView, at: number, length: number, position: number, record: number): number {
    const left = length - at;
    const size = left < sizeBytes ? 0 : view.getUint32(at, true);
    if (left >= sizeBytes && size <= left - sizeBytes) return at + sizeBytes + size;
    if (this.context.skipErrors) return -1;
    const place = { record, byte: position + at };
    const reason = left < sizeBytes ? `${left} bytes follow the last feature` : `a feature of ${size} bytes is cut`;
    const isLast = position + length >= this.source.size;
    throw createError(isLast ? "input-truncated" : "input-corrupt", {
      source: this.source.name,
      place,
      reason,
      canSkip: true,
    });
  }

  private skipRest(bytes: number, byte: number, record: number): number {
    const reason = "a feature has a size that it cannot have; what follows was left out";
    this.context.skipRange({ source: this.source.name, place: { record, byte }, bytes, reason });
    return 0;
  }

  /** @returns whether the feature was read; if not, it is damaged and skipped */
  private feature(
    view: DataView,
    at: number,
    end: number,
    row: number,
    position: number,
    record: number,
    unreadable: [row: number, reason: string][],
  ): boolean {
    const { flat, builder, context, source } = this;
    try {
      flat.open(view, at + sizeBytes, end);
      const table = flat.follow(at + sizeBytes);
      if (
        flat.member(table, FeatureMember.columns, 4) > 0 &&
        flat.vector(table, FeatureMember.columns, 4) &&
        flat.length > 0
      )
        throw createError("unsupported", { source: source.name, reason: `feature ${record} has columns of its own` });
      const properties = flat.vector(table, FeatureMember.properties, 1);
      this.properties.add(row, view, properties, properties + flat.length);
      const geometry = flat.table(table, FeatureMember.geometry);
      if (geometry === 0) builder.addNull();
      else this.addGeometry(geometry, end - at, row, unreadable);
      return true;
    } catch (error) {
      if (!(error instanceof FlatDamage)) throw error;
      const place = { record, byte: position + at };
      const { message: reason } = error;
      if (!context.skipErrors)
        throw createError("input-corrupt", { source: source.name, place, reason, canSkip: true }, error);
      context.skipRange({ source: source.name, place, bytes: end - at, reason });
      return false;
    }
  }

  /** Adds a null geometry in place of one that cannot be read. */
  private addGeometry(table: number, bytes: number, row: number, unreadable: [row: number, reason: string][]): void {
    try {
      this.geometry.read(table, this.plan.geometryType, bytes);
    } catch (error) {
      if (!(error instanceof GeometryParseError) && !(error instanceof FlatDamage)) throw error;
      unreadable.push([row, error.message]);
      this.builder.addNull();
    }
  }

  private reportRepairs(): void {
    const { geometry, context } = this;
    reportWkbRepairs(geometry, context);
    if (geometry.undeclaredZ > 0)
      context.reportLoss(
        "z-dropped",
        undefined,
        "the header declares no heights, and a feature has some",
        geometry.undeclaredZ,
      );
    if (geometry.undeclaredM > 0)
      context.reportLoss(
        "m-dropped",
        undefined,
        "the header declares no measures, and a feature has some",
        geometry.undeclaredM,
      );
    geometry.closedRings = 0;
    geometry.curves = 0;
    geometry.unreadable = 0;
    geometry.undeclaredZ = 0;
    geometry.undeclaredM = 0;
  }
}
