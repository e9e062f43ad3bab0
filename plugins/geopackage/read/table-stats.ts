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

/** Measures the rows of a table where they stand, without making columns of them. */
export class TableStats {
  private readonly kinds: GeometryTypeStats;
  private readonly head: RecordHeader;
  /** By column; null for one that is passed over. */
  private readonly takers: readonly (ColumnStats | GeometryTypeStats | null)[];
  private readonly geometryAt: number;
  private rows = 0;
  private leastId = 0;
  private greatestId = 0;

  private constructor(
    private readonly plan: LayerPlan,
    private readonly gauges: ReadonlyMap<number, ColumnStats>,
    within: Extent | null,
  ) {
    this.kinds = new GeometryTypeStats(within);
    this.geometryAt = plan.columns.findIndex(({ role }) => role === "geometry");
    this.takers = plan.columns.map((_, c) => (c === this.geometryAt ? this.kinds : (gauges.get(c) ?? null)));
    this.head = new RecordHeader(this.takers.length);
  }

  /** Null for a table with columns whose values must be converted to be measured. */
  static of(plan: LayerPlan, encoding: SqliteHeader["encoding"], within: Extent | null): TableStats | null {
    if (encoding !== "utf8" || plan.ids === "int64") return null;
    const gauges = new Map<number, ColumnStats>();
    for (const [c, { role, initial }] of plan.columns.entries()) {
      if (initial !== null) return null;
      if (role === "geometry" || role === "rowid") continue;
      const gauge = createColumnStats(role);
      if (!gauge) return null;
      gauges.set(c, gauge);
    }
    return new TableStats(plan, gauges, within);
  }

  /** @returns false where the row cannot be measured: the table is to be read otherwise then */
  add(row: SqliteRow): boolean {
    const { head, takers } = this;
    const given = head.read(row);
    if (given <= this.geometryAt) return false;
    const { serials, starts, sizes } = head;
    for (let c = 0; c < given; c++) takers[c]?.take(row.bytes, starts[c]!, serials[c]!, sizes[c]!);
    if (this.kinds.gaveUp) return false;
    this.rows++;
    const id = row.low | 0;
    if (id < this.leastId) this.leastId = id;
    if (id > this.greatestId) this.greatestId = id;
    return true;
  }

  /** What the rows say together; null where some could not be measured after all. */
  summary(): LayerSummary | null {
    const { plan, rows, gauges } = this;
    const summariser = new Summarizer(false);
    const { state } = summariser;
    for (const [c, { values, longest, gaveUp }] of gauges) {
      if (gaveUp) return null;
      const { name, role } = plan.columns[c]!;
      const type = role as FieldType;
      const maxBytes = values > 0 ? longest : 0;
      state.fields.set(name, { ...emptyFieldState(), type, values, maxBytes });
    }
    this.kinds.counts.forEach((count, kind) => {
      state.kinds[kind]!.count = count;
    });
    if (!this.kinds.isWithin()) return null;
    state.kinds[Kind.Point]!.box = this.kinds.pointBox();
    if (plan.ids !== null && rows > 0) {
      state.idType = plan.ids;
      state.maxIdBytes = Math.max(String(this.leastId).length, String(this.greatestId).length);
    }
    return summariser.summary();
  }
}
