import { type Extent, emptyField, type FieldType, Kind, type LayerSummary, Summariser } from "../../src/model/index.js";
import { type Gauge, gaugeOf, KindGauge } from "./gauges.js";
import type { LayerPlan } from "./layer-plan.js";
import { RecordHead } from "./record-head.js";
import type { SqliteHeader } from "./sqlite-header.js";
import type { Row } from "./sqlite-rows.js";

/** Measures the rows of a table where they stand, without making columns of them. */
export class TableGauge {
  private readonly kinds: KindGauge;
  private readonly head: RecordHead;
  /** By column; null for one that is passed over. */
  private readonly takers: readonly (Gauge | KindGauge | null)[];
  private readonly geometryAt: number;
  private rows = 0;
  private leastId = 0;
  private greatestId = 0;

  private constructor(
    private readonly plan: LayerPlan,
    private readonly gauges: ReadonlyMap<number, Gauge>,
    within: Extent | null,
  ) {
    this.kinds = new KindGauge(within);
    this.geometryAt = plan.columns.findIndex(({ role }) => role === "geometry");
    this.takers = plan.columns.map((_, c) => (c === this.geometryAt ? this.kinds : (gauges.get(c) ?? null)));
    this.head = new RecordHead(this.takers.length);
  }

  /** Null for a table with columns whose values must be converted to be measured. */
  static of(plan: LayerPlan, encoding: SqliteHeader["encoding"], within: Extent | null): TableGauge | null {
    if (encoding !== "utf8" || plan.ids === "int64") return null;
    const gauges = new Map<number, Gauge>();
    for (const [c, { role, initial }] of plan.columns.entries()) {
      if (initial !== null) return null;
      if (role === "geometry" || role === "rowid") continue;
      const gauge = gaugeOf(role);
      if (!gauge) return null;
      gauges.set(c, gauge);
    }
    return new TableGauge(plan, gauges, within);
  }

  /** @returns false where the row cannot be measured: the table is to be read otherwise then */
  add(row: Row): boolean {
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
    const summariser = new Summariser(false);
    const { state } = summariser;
    for (const [c, { values, longest, gaveUp }] of gauges) {
      if (gaveUp) return null;
      const { name, role } = plan.columns[c]!;
      const type = role as FieldType;
      const maxBytes = values > 0 ? longest : 0;
      state.fields.set(name, { ...emptyField(), type, values, maxBytes });
    }
    this.kinds.counts.forEach((count, kind) => {
      state.kinds[kind]!.count = count;
    });
    if (!this.kinds.isWithin()) return null;
    state.kinds[Kind.Point]!.box = this.kinds.pointBox();
    if (plan.ids !== null && rows > 0) {
      state.idType = plan.ids;
      state.idBytes = Math.max(String(this.leastId).length, String(this.greatestId).length);
    }
    return summariser.summary();
  }
}
