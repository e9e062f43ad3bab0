import {
  type Extent,
  emptyFieldState,
  type FieldType,
  isExtentWithin,
  Kind,
  type LayerSummary,
  maxBooleanTextBytes,
  maxDoubleTextBytes,
  Summarizer,
} from "../../../src/model/index.js";
import { KernelColumn } from "../../shared/kernels/kernel-column.js";
import type { SqliteHeader } from "../sqlite/header.js";
import type { RowReader } from "../sqlite/row-reader.js";
import { pageHeaderOffset } from "../sqlite/tree.js";
import type { ColumnPlan, LayerPlan } from "./layer-plan.js";
import { createTableKernel, pageDone, type TableKernel } from "./table-kernel.js";

/** Room after a page or record, which the kernel may read from a damaged one. */
const slackBytes = 32;

/** What to measure in a column; undefined if its values must be decoded. */
function measureOf(role: ColumnPlan["role"]): number | undefined {
  if (role === "rowid") return KernelColumn.nothing;
  if (role === "binary") return undefined;
  return Object.hasOwn(KernelColumn, role) ? KernelColumn[role as keyof typeof KernelColumn] : undefined;
}

/** Collects the statistics of a table from its pages, without decoding columns. */
export class TableStats {
  private readonly kernel: TableKernel = createTableKernel();
  private readonly page: number;
  private record = 0;
  private recordBytes = 0;
  private memory: Uint8Array;

  private constructor(
    private readonly plan: LayerPlan,
    measures: readonly number[],
    private readonly usable: number,
    private readonly within: Extent | null,
  ) {
    const { kernel } = this;
    kernel.open(measures.length, within !== null);
    for (const [c, measure] of measures.entries()) kernel.setMeasure(c, measure);
    this.page = kernel.reserve(usable + slackBytes);
    this.memory = new Uint8Array(kernel.memory.buffer);
  }

  /**
   * Returns null if the values of a column must be decoded first.
   * @param within count points too, as long as the layer has only points and all lie within this extent; null: do not
   */
  static of(plan: LayerPlan, { encoding, usable }: SqliteHeader, within: Extent | null): TableStats | null {
    if (encoding !== "utf8" || plan.ids === "int64") return null;
    const measures: number[] = [];
    for (const { role, defaultValue } of plan.columns) {
      const measure = measureOf(role);
      if (measure === undefined || defaultValue !== null) return null;
      measures.push(measure);
    }
    return new TableStats(plan, measures, usable, within);
  }

  /** Adds the rows of the open page of a reader. @returns false if a row must be decoded first @throws SqliteDamage */
  async addPage(reader: RowReader, leaf: number): Promise<boolean> {
    const { kernel, usable, page } = this;
    this.memory.set(reader.pageBytes, page);
    const head = pageHeaderOffset(leaf);
    let row = kernel.addPage(page, head, usable, 0);
    while (row >= 0) {
      await reader.read(row);
      if (!this.addRecord(reader)) return false;
      row = kernel.addPage(page, head, usable, row + 1);
    }
    return row === pageDone;
  }

  /** Adds a row that was assembled from several pages. */
  private addRecord({ row: { bytes, from, to, low } }: RowReader): boolean {
    const { kernel } = this;
    const size = to - from;
    if (size > this.recordBytes) {
      this.recordBytes = 2 * size;
      this.record = kernel.reserve(this.recordBytes + slackBytes);
      this.memory = new Uint8Array(kernel.memory.buffer);
    }
    this.memory.set(bytes.subarray(from, to), this.record);
    return kernel.addRecord(this.record, size, low) !== 0;
  }

  /** Returns null if some values must be decoded first. */
  summary(): LayerSummary | null {
    const { plan, kernel } = this;
    const summarizer = new Summarizer(false);
    const { state } = summarizer;
    for (const [c, { name, role }] of plan.columns.entries()) {
      if (role === "geometry" || role === "rowid") continue;
      const values = kernel.valueCount(c);
      const maxBytes = values > 0 ? this.longestValue(c, role) : 0;
      state.fields.set(name, { ...emptyFieldState(), type: role, values, maxBytes });
    }
    for (const [kind, facts] of state.kinds.entries())
      if (kind < Kind.GeometryCollection) facts.count = kernel.kindCount(kind);
    if (!this.isWithin()) return null;
    state.kinds[Kind.Point]!.box = this.pointBox();
    if (plan.ids !== null && kernel.rowCount() > 0) {
      state.idType = plan.ids;
      state.maxIdBytes = Math.max(String(kernel.smallestId()).length, String(kernel.largestId()).length);
    }
    return summarizer.summary();
  }

  /** Size of the longest value as text, in bytes. */
  private longestValue(c: number, type: FieldType): number {
    const { kernel } = this;
    if (type === "boolean") return maxBooleanTextBytes;
    if (type === "double") return maxDoubleTextBytes;
    if (type !== "int32" && type !== "int64") return kernel.longestText(c);
    return Math.max(String(kernel.leastInteger(c)).length, String(kernel.mostInteger(c)).length);
  }

  /** Whether the layer has no points, or only points that all lie within the extent. */
  private isWithin(): boolean {
    const { within, kernel } = this;
    if (kernel.kindCount(Kind.Point) === 0) return true;
    for (let kind = Kind.Point + 1; kind < Kind.GeometryCollection; kind++)
      if (kernel.kindCount(kind) > 0) return false;
    return within !== null && isExtentWithin(this.pointBox(), within);
  }

  /** Min x, min y, max x and max y of the points. */
  private pointBox(): [number, number, number, number] {
    const { kernel } = this;
    return [kernel.west(), kernel.south(), kernel.east(), kernel.north()];
  }
}
