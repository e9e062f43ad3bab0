import { Batch, type Column, type Field, NumberBuilder } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { RecordHeader } from "../sqlite/record-header.js";
import { rowidOf, type SqliteRow } from "../sqlite/row-reader.js";
import type { SqliteValue } from "../sqlite/values.js";
import { type ColumnDecoder, createColumnDecoder, Int64ColumnBuilder } from "./column-decoders.js";
import { GeometryDecoder } from "./geometry-decoder.js";
import { fieldsOf, type LayerPlan } from "./layer-plan.js";

/** Enough rows for a batch, or as many as bring so many positions or bytes. */
const maxBatchRows = 1024;
const maxBatchPositions = 1 << 16;
const maxBatchBytes = 1 << 20;

type ColumnTarget = ColumnDecoder | GeometryDecoder | null;

/** Makes batches of the rows of a layer. */
export class BatchBuilder {
  private readonly fields: readonly Field[];
  private readonly targets: readonly ColumnTarget[];
  private readonly geometryColumn: boolean;
  private readonly head: RecordHeader;
  private ids: Int64ColumnBuilder | NumberBuilder | null;
  private bytes = 0;
  private rows = 0;
  /** Rows of the current batch whose geometry cannot be read, with the reason. */
  private unreadable: [row: number, reason: string][] = [];
  /** Rows since the start of the split. */
  private passed = 0;

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
    this.head = new RecordHeader(this.targets.length);
    this.ids = this.newIds();
  }

  private newIds(): Int64ColumnBuilder | NumberBuilder | null {
    if (this.plan.ids === null) return null;
    return this.plan.ids === "int64" ? new Int64ColumnBuilder() : new NumberBuilder("int32");
  }

  get isFull(): boolean {
    return this.rows >= maxBatchRows || this.bytes >= maxBatchBytes || this.geometry.positions >= maxBatchPositions;
  }

  /** Adds a row of a table. @returns false where the record contradicts itself, with nothing added */
  add(row: SqliteRow): boolean {
    const { head, targets } = this;
    const given = head.read(row);
    if (given < 0) return false;
    const { serials, starts, sizes } = head;
    for (let c = 0; c < given; c++) targets[c]?.take(row.bytes, starts[c]!, serials[c]!, sizes[c]!);
    for (let c = given; c < targets.length; c++) this.initial(c);
    this.close(row.high, row.low, row.to - row.from);
    return true;
  }

  private initial(c: number): void {
    const target = this.targets[c];
    if (target instanceof GeometryDecoder) target.none();
    else target?.value(this.plan.columns[c]!.initial);
  }

  /** Adds a row of values, one for each column of the plan. */
  addValues(values: readonly SqliteValue[]): void {
    for (let c = 0; c < this.targets.length; c++) {
      const target = this.targets[c];
      const value = values[c] ?? null;
      if (!(target instanceof GeometryDecoder)) target?.value(value);
      else if (value === null) target.none();
      else target.value(value);
    }
    this.close(0, 0, 0);
  }

  private close(high: number, low: number, size: number): void {
    if (this.ids instanceof Int64ColumnBuilder) this.ids.push(high, low);
    else this.ids?.push(low | 0);
    if (!this.geometryColumn) this.geometry.none();
    else if (this.geometry.fault !== null) this.refuse(high, low);
    this.rows++;
    this.bytes += size;
  }

  private refuse(high: number, low: number): void {
    const row = this.plan.ids === null ? "" : ` (rowid ${rowidOf(high, low)})`;
    this.unreadable.push([this.rows, `${this.geometry.fault}${row}`]);
  }

  /** The batch of the rows since the last one; null where there are none. */
  take(): Batch | null {
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
      firstRecord: this.passed + 1,
    });
    this.ids = this.newIds();
    this.passed += length;
    this.rows = 0;
    this.bytes = 0;
    this.unreadable = [];
    return rejectUnreadableGeometries(batch, unreadable, this.context);
  }

  /** Says how many rows there were since the start, and starts over. */
  end(): void {
    this.context.splitFinished(this.passed, 0);
    this.passed = 0;
  }
}
