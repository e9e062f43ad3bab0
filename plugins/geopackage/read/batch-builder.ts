import { Batch, type Column, type Field, NumberBuilder } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { RecordHeader } from "../sqlite/record-header.js";
import { type RowReader, rowidOf, type SqliteRow } from "../sqlite/row-reader.js";
import type { SqliteValue } from "../sqlite/values.js";
import { type ColumnDecoder, createColumnDecoder, Int64ColumnBuilder } from "./column-decoders.js";
import { GeometryDecoder } from "./geometry-decoder.js";
import { fieldsOf, type LayerPlan } from "./layer-plan.js";
import type { RowsKernel } from "./rows-kernel.js";

/** A batch ends at the first of these limits. */
const maxBatchRows = 1024;
const maxBatchPositions = 1 << 16;
const maxBatchBytes = 1 << 20;

type ColumnTarget = ColumnDecoder | GeometryDecoder | null;

/** Collects the rows of a layer into batches. */
export class BatchBuilder {
  private readonly fields: readonly Field[];
  private readonly targets: readonly ColumnTarget[];
  private readonly geometryColumn: boolean;
  private readonly header: RecordHeader;
  private ids: Int64ColumnBuilder | NumberBuilder | null;
  private bytes = 0;
  private rows = 0;
  /** Rows of the current batch whose geometry cannot be read, with the reason. */
  private unreadable: [row: number, reason: string][] = [];
  /** Rows of earlier batches of the split. */
  private rowsBefore = 0;
  /** Decodes whole batches without oddities; then none of the rows is in the targets. */
  kernel: RowsKernel | null = null;

  constructor(
    private readonly plan: LayerPlan,
    encoding: "utf8" | "utf16le" | "utf16be",
    private readonly context: Pick<
      ReadContext,
      "reportLoss" | "reportNotice" | "keepsBadGeometries" | "reject" | "splitFinished"
    >,
    private readonly geometry: GeometryDecoder = new GeometryDecoder({ srsId: plan.srsId, context }),
  ) {
    this.fields = fieldsOf(plan);
    this.geometryColumn = plan.columns.some((column) => column.role === "geometry");
    this.targets = plan.columns.map(({ name, role }) => {
      if (role === "geometry") return this.geometry;
      if (role === "rowid") return null;
      return createColumnDecoder(role, encoding, (code, example) => context.reportLoss(code, name, example));
    });
    this.header = new RecordHeader(this.targets.length);
    this.ids = this.newIds();
  }

  private newIds(): Int64ColumnBuilder | NumberBuilder | null {
    if (this.plan.ids === null) return null;
    return this.plan.ids === "int64" ? new Int64ColumnBuilder() : new NumberBuilder("int32");
  }

  get isFull(): boolean {
    if (this.kernel?.isFull) return true;
    return this.rows >= maxBatchRows || this.bytes >= maxBatchBytes || this.geometry.positions >= maxBatchPositions;
  }

  /**
   * Adds rows of the open page from `first` on that can be added at once, as far as the batch is not full.
   * @returns the index of the row after the last one
   */
  addPage(reader: RowReader, first: number): number {
    const { kernel } = this;
    if (first === 0) kernel?.loadPage(reader);
    return kernel === null || this.rows > 0 ? first : kernel.addPage(reader, first);
  }

  /** Adds a row of a table. @returns false, with nothing added, if the record is malformed */
  add(row: SqliteRow): boolean {
    const { kernel } = this;
    if (kernel === null || this.rows > 0) return this.decode(row);
    if (kernel.hasRoom(row.to - row.from)) return kernel.add(row);
    this.decodeRecords(kernel);
    return this.decode(row);
  }

  /** Decodes the rows of the kernel, whose values may have to be converted, repaired or reported. */
  private decodeRecords(kernel: RowsKernel): void {
    for (const row of kernel.records()) this.decode(row);
    kernel.reset();
  }

  private decode(row: SqliteRow): boolean {
    const { header, targets } = this;
    const given = header.read(row);
    if (given < 0) return false;
    const { serials, starts, sizes } = header;
    for (let c = 0; c < given; c++) targets[c]?.addEncoded(row.bytes, starts[c]!, serials[c]!, sizes[c]!);
    for (let c = given; c < targets.length; c++) this.addDefault(c);
    this.endRow(row.high, row.low, row.to - row.from);
    return true;
  }

  private addDefault(c: number): void {
    const target = this.targets[c];
    if (target instanceof GeometryDecoder) target.addNull();
    else target?.value(this.plan.columns[c]!.defaultValue);
  }

  /** Adds a row of values, one for each column of the plan. */
  addValues(values: readonly SqliteValue[]): void {
    for (let c = 0; c < this.targets.length; c++) {
      const target = this.targets[c];
      const value = values[c] ?? null;
      if (!(target instanceof GeometryDecoder)) target?.value(value);
      else if (value === null) target.addNull();
      else target.value(value);
    }
    this.endRow(0, 0, 0);
  }

  private endRow(high: number, low: number, size: number): void {
    if (this.ids instanceof Int64ColumnBuilder) this.ids.push(high, low);
    else this.ids?.push(low | 0);
    if (!this.geometryColumn) this.geometry.addNull();
    else if (this.geometry.fault !== null) this.markUnreadable(high, low);
    this.rows++;
    this.bytes += size;
  }

  private markUnreadable(high: number, low: number): void {
    const row = this.plan.ids === null ? "" : ` (rowid ${rowidOf(high, low)})`;
    this.unreadable.push([this.rows, `${this.geometry.fault}${row}`]);
  }

  /** Returns the rows added since the last call as a batch, or null if there are none. */
  take(): Batch | null {
    const { kernel } = this;
    if (kernel !== null && kernel.rows > 0) {
      const decoded = kernel.decode();
      if (decoded !== null) {
        kernel.reset();
        const firstRecord = this.rowsBefore + 1;
        this.rowsBefore += decoded.length;
        return new Batch({ ...decoded, fields: this.fields, recordNumbers: null, firstRecord });
      }
      this.decodeRecords(kernel);
    }
    return this.takeDecoded();
  }

  private takeDecoded(): Batch | null {
    const { rows: length, unreadable } = this;
    if (length === 0) return null;
    const columns: Column[] = [];
    for (const target of this.targets)
      if (target && !(target instanceof GeometryDecoder)) columns.push(target.finish());
    const batch = new Batch({
      length,
      ids: this.ids?.finish() ?? null,
      fields: this.fields,
      columns,
      geometry: this.geometry.finish(),
      recordNumbers: null,
      firstRecord: this.rowsBefore + 1,
    });
    this.ids = this.newIds();
    this.rowsBefore += length;
    this.rows = 0;
    this.bytes = 0;
    this.unreadable = [];
    return rejectUnreadableGeometries(batch, unreadable, this.context);
  }

  /** Reports the number of rows in the split and resets the count. */
  endSplit(): void {
    this.context.splitFinished(this.rowsBefore, 0);
    this.rowsBefore = 0;
  }
}
