/**
 * Statistics of a layer in one pass and bounded memory: batches are added on any thread, and the states, plain data, are
 * merged in order, so that the result does not depend on the number of threads.
 */
import type { Batch } from "../model/batch.js";
import { type GeometryType, geometryTypes } from "../model/geometry.js";
import type { LayerSummary } from "../model/layer-summary.js";
import { type FieldStatisticsReport, reportField } from "./field-report.js";
import { type FieldLimits, type FieldStatisticsState, limitsFor } from "./field-state.js";
import { FieldStatistics } from "./field-statistics.js";
import {
  GeometryStatistics,
  type GeometryStatisticsReport,
  type GeometryStatisticsState,
  type ToDegrees,
} from "./geometry-statistics.js";
import { ValueCounter } from "./value-counter.js";

/** Fields of a layer that have statistics: the first ones. */
export const maxStatisticsFields = 1000;

export interface StatisticsState {
  fields: Map<string, FieldStatisticsState>;
  geometry: GeometryStatisticsState;
}

/** Statistics of a layer. */
export interface StatisticsReport {
  /** The first thousand fields. */
  readonly fields: readonly FieldStatisticsReport[];
  readonly geometry: GeometryStatisticsReport & {
    /** Number of features by geometry type. */
    readonly types: Readonly<Partial<Record<GeometryType, number>>>;
    readonly nulls: number;
  };
}

export class StatisticsCollector {
  private readonly fields = new Map<string, FieldStatistics>();
  private readonly counter = new ValueCounter();
  private readonly geometry: GeometryStatistics;
  private limits: FieldLimits | null = null;

  constructor(toDegrees: ToDegrees) {
    this.geometry = new GeometryStatistics(toDegrees, this.counter);
  }

  add(batch: Batch): void {
    batch.fields.forEach(({ name }, f) => {
      this.field(name, batch.fields.length)?.add(batch.columns[f]!, batch.length);
    });
    this.geometry.add(batch.geometry);
  }

  private field(name: string, fieldCount: number): FieldStatistics | null {
    const known = this.fields.get(name);
    if (known) return known;
    if (this.fields.size >= maxStatisticsFields) return null;
    this.limits ??= limitsFor(Math.min(fieldCount, maxStatisticsFields));
    const added = new FieldStatistics(this.limits, this.counter);
    this.fields.set(name, added);
    return added;
  }

  /** Merges the state of another collector for later batches. */
  merge(other: StatisticsState): void {
    for (const [name, state] of other.fields) this.field(name, other.fields.size)?.merge(state);
    this.geometry.merge(other.geometry);
  }

  /** The state of a part of the batches, which will be merged. The object must not be used afterwards. */
  finishPart(): StatisticsState {
    const fields = new Map<string, FieldStatisticsState>();
    for (const [name, field] of this.fields) fields.set(name, field.finishPart());
    this.counter.release();
    return { fields, geometry: this.geometry.toState() };
  }

  /**
   * The object must not be used afterwards.
   * @param summary of the same features: with the types that the fields have over all batches
   */
  report({ featureCount, kinds, fields }: Pick<LayerSummary, "featureCount" | "kinds" | "fields">): StatisticsReport {
    const none = new FieldStatistics(limitsFor(1), this.counter);
    const types = geometryTypes.flatMap((type, kind) =>
      type !== null && kinds[kind]!.count > 0 ? [[type, kinds[kind]!.count]] : [],
    );
    const reported = fields
      .slice(0, maxStatisticsFields)
      .map((field) => reportField(field, (this.fields.get(field.name) ?? none).toState(), featureCount));
    this.counter.release();
    return {
      fields: reported,
      geometry: { types: Object.fromEntries(types), nulls: kinds[0]!.count, ...this.geometry.report() },
    };
  }
}
