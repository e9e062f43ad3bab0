import {
  type Extent,
  emptyFieldState,
  type FieldType,
  Kind,
  type LayerSummary,
  Summarizer,
} from "../../../src/model/index.js";
import type { SqliteHeader } from "../sqlite/header.js";
import { RecordHeader } from "../sqlite/record-header.js";
import type { SqliteRow } from "../sqlite/row-reader.js";
import { type ColumnStats, createColumnStats, GeometryTypeStats } from "./column-stats.js";
import type { LayerPlan } from "./layer-plan.js";

/** Collects the statistics of a table from encoded records, without decoding columns. */
export class TableStats {
  private readonly geometryStats: GeometryTypeStats;
  private readonly header: RecordHeader;
  /** By column; null for columns that need no statistics. */
  private readonly statsByColumn: readonly (ColumnStats | GeometryTypeStats | null)[];
  private readonly geometryAt: number;
  private rows = 0;
  private leastId = 0;
  private greatestId = 0;

  private constructor(
    private readonly plan: LayerPlan,
    private readonly columnStats: ReadonlyMap<number, ColumnStats>,
    within: Extent | null,
  ) {
    this.geometryStats = new GeometryTypeStats(within);
    this.geometryAt = plan.columns.findIndex(({ role }) => role === "geometry");
    this.statsByColumn = plan.columns.map((_, c) =>
      c === this.geometryAt ? this.geometryStats : (columnStats.get(c) ?? null),
    );
    this.header = new RecordHeader(this.statsByColumn.length);
  }

  /** Returns null if the values of a column must be decoded first. */
  static of(plan: LayerPlan, encoding: SqliteHeader["encoding"], within: Extent | null): TableStats | null {
    if (encoding !== "utf8" || plan.ids === "int64") return null;
    const columnStats = new Map<number, ColumnStats>();
    for (const [c, { role, defaultValue }] of plan.columns.entries()) {
      if (defaultValue !== null) return null;
      if (role === "geometry" || role === "rowid") continue;
      const stats = createColumnStats(role);
      if (!stats) return null;
      columnStats.set(c, stats);
    }
    return new TableStats(plan, columnStats, within);
  }

  /** @returns false if the row must be decoded first */
  add(row: SqliteRow): boolean {
    const { header, statsByColumn } = this;
    const given = header.read(row);
    if (given <= this.geometryAt) return false;
    const { serials, starts, sizes } = header;
    for (let c = 0; c < given; c++) statsByColumn[c]?.add(row.bytes, starts[c]!, serials[c]!, sizes[c]!);
    if (this.geometryStats.needsDecoding) return false;
    this.rows++;
    const id = row.low | 0;
    if (id < this.leastId) this.leastId = id;
    if (id > this.greatestId) this.greatestId = id;
    return true;
  }

  /** Returns null if some values must be decoded first. */
  summary(): LayerSummary | null {
    const { plan, rows, columnStats } = this;
    const summarizer = new Summarizer(false);
    const { state } = summarizer;
    for (const [c, { values, longest, needsDecoding }] of columnStats) {
      if (needsDecoding) return null;
      const { name, role } = plan.columns[c]!;
      const type = role as FieldType;
      const maxBytes = values > 0 ? longest : 0;
      state.fields.set(name, { ...emptyFieldState(), type, values, maxBytes });
    }
    this.geometryStats.counts.forEach((count, kind) => {
      state.kinds[kind]!.count = count;
    });
    if (!this.geometryStats.isWithin()) return null;
    state.kinds[Kind.Point]!.box = this.geometryStats.pointBox();
    if (plan.ids !== null && rows > 0) {
      state.idType = plan.ids;
      state.maxIdBytes = Math.max(String(this.leastId).length, String(this.greatestId).length);
    }
    return summarizer.summary();
  }
}
