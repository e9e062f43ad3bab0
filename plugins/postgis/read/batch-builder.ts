import { Batch, type Field } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/index.js";
import { rejectUnreadableGeometries } from "../../shared/unreadable-geometries.js";
import { type ColumnDecoder, createColumnDecoder } from "./column-decoders.js";
import { GeometryDecoder } from "./geometry-decoder.js";
import { fieldsOf, type LayerPlan } from "./layer-plan.js";

/** A batch ends at the first of these limits. */
const maxBatchRows = 1024;
const maxBatchPositions = 1 << 16;
const maxBatchBytes = 1 << 20;

/** Collects rows into batches. A row is the id, the geometry (if any), then the other columns. */
export class BatchBuilder {
  private readonly fields: readonly Field[];
  private readonly ids: ColumnDecoder | null;
  private readonly geometry: GeometryDecoder;
  private readonly cells: readonly ColumnDecoder[];
  private readonly targets: readonly (ColumnDecoder | GeometryDecoder)[];
  private bytes = 0;
  private rows = 0;
  /** Rows of the current batch whose geometry cannot be read, with the reason. */
  private unreadable: [row: number, reason: string][] = [];
  /** Number of rows of earlier batches. */
  private rowsBefore = 0;

  constructor(
    private readonly plan: LayerPlan,
    private readonly context: Pick<
      ReadContext,
      "reportLoss" | "reportNotice" | "keepsBadGeometries" | "reject" | "splitFinished"
    >,
  ) {
    this.fields = fieldsOf(plan);
    this.geometry = new GeometryDecoder(plan.geometry?.srid ?? 0, context);
    this.ids = plan.id && createColumnDecoder(plan.id.wire, plan.id.type, () => undefined);
    this.cells = plan.columns.map(({ name, wire, type }) =>
      createColumnDecoder(wire, type, (code, example) => context.reportLoss(code, name, example)),
    );
    this.targets = [...(this.ids ? [this.ids] : []), ...(plan.geometry ? [this.geometry] : []), ...this.cells];
  }

  get isFull(): boolean {
    return this.rows >= maxBatchRows || this.bytes >= maxBatchBytes || this.geometry.positions >= maxBatchPositions;
  }

  /** Adds a row: the number of its columns, then length and bytes of each; a length of −1 is null. */
  add(bytes: Buffer, from: number, to: number): void {
    const { targets } = this;
    let at = from + 2;
    for (const target of targets) {
      const size = bytes.readInt32BE(at);
      at += 4;
      if (size < 0) target.none();
      else {
        target.take(bytes, at, at + size);
        at += size;
      }
    }
    if (!this.plan.geometry) this.geometry.none();
    else if (this.geometry.fault !== null) this.markUnreadable();
    this.rows++;
    this.bytes += to - from;
  }

  private markUnreadable(): void {
    this.unreadable.push([this.rows, `the geometry cannot be read: ${this.geometry.fault}`]);
  }

  /** Returns the rows added since the last call as a batch, or null if there are none. */
  take(): Batch | null {
    const { rows: length, unreadable } = this;
    if (length === 0) return null;
    const batch = new Batch({
      length,
      ids: this.ids?.finish() ?? null,
      fields: this.fields,
      columns: this.cells.map((cells) => cells.finish()),
      geometry: this.geometry.finish(),
      recordNumbers: null,
      firstRecord: this.rowsBefore + 1,
    });
    this.rowsBefore += length;
    this.rows = 0;
    this.bytes = 0;
    this.unreadable = [];
    return rejectUnreadableGeometries(batch, unreadable, this.context);
  }

  /** Reports the number of rows. */
  endSplit(): void {
    this.context.splitFinished(this.rowsBefore, 0);
  }
}
