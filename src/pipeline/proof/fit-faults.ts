/**
 * Holds the batches that a fit returns against the one that it got: what differs must be a loss that the fit reported.
 * Columns that the fit shares are the same; only others are looked at.
 */
import { textOfValue } from "../../canonical/canonical-value.js";
import type { Batch } from "../../model/batch.js";
import { type Column, Presence } from "../../model/column.js";
import { type GeometryColumn, positionRange } from "../../model/geometry.js";
import type { FitPlan } from "../../stages/fit-plan.js";
import type { StageContext } from "../../stages/stage.js";
import { findQuickComparison } from "./compare-columns.js";

/** A value, or geometry, that the fit changed without a report. */
export interface FitFault {
  /** Row of the fitted batch, from 0. */
  readonly row: number;
  /** Null for a geometry, or for the number of features. */
  readonly field: string | null;
  readonly before: string;
  readonly after: string;
}

/** The context of a fit, which counts its losses by field and its rejects. */
export class FitLosses implements StageContext {
  private readonly counts = new Map<string | undefined, number>();
  rejected = 0;

  constructor(private readonly context: StageContext) {}

  get layer(): string {
    return this.context.layer;
  }

  get keepsBadGeometries(): boolean {
    return this.context.keepsBadGeometries;
  }

  countOf(field: string | undefined): number {
    return this.counts.get(field) ?? 0;
  }

  reportLoss(code: string, field: string | undefined, example: string, count = 1): void {
    this.counts.set(field, this.countOf(field) + count);
    this.context.reportLoss(code, field, example, count);
  }

  reportNotice(...notice: Parameters<StageContext["reportNotice"]>): void {
    this.context.reportNotice(...notice);
  }

  countOperation(...use: Parameters<StageContext["countOperation"]>): void {
    this.context.countOperation(...use);
  }

  reject(...reject: Parameters<StageContext["reject"]>): void {
    this.rejected++;
    this.context.reject(...reject);
  }
}

type Fitted = readonly [part: number, batch: Batch];

/** @returns the first faults of each part */
export function findFitFaults(
  plan: FitPlan,
  given: Batch,
  fitted: readonly Fitted[],
  losses: FitLosses,
): ReadonlyMap<number, readonly FitFault[]> {
  const faults = new Map<number, FitFault[]>();
  const rows = fitted.reduce((sum, [, batch]) => sum + batch.length, 0);
  const first = fitted[0]?.[0] ?? 0;
  if (rows + losses.rejected !== given.length) {
    const after = `${rows} features and ${losses.rejected} rejects`;
    faults.set(first, [{ row: 0, field: null, before: `${given.length} features`, after }]);
  }
  /** Values that changed, by field: all parts draw on the same losses. */
  const changed = new Map<string, number>();
  const rowOf = fitted.length === 1 && rows === given.length ? null : rowsByRecord(given);
  for (const [part, batch] of fitted) {
    const found = faults.get(part) ?? [];
    const source = (row: number) => (rowOf === null ? row : rowOf.get(batch.recordAt(row))!);
    checkFields(plan, given, batch, source, losses, changed, found);
    checkPositions(given.geometry, batch, source, found);
    if (found.length > 0) faults.set(part, found);
  }
  return faults;
}

function rowsByRecord(batch: Batch): ReadonlyMap<number, number> {
  const rows = new Map<number, number>();
  for (let row = 0; row < batch.length; row++) rows.set(batch.recordAt(row), row);
  return rows;
}

function checkFields(
  { fields: planned }: FitPlan,
  given: Batch,
  fitted: Batch,
  source: (row: number) => number,
  losses: FitLosses,
  changed: Map<string, number>,
  found: FitFault[],
): void {
  const indexOf = new Map(fitted.fields.map(({ name }, f) => [name, f]));
  const targets = planned && new Map(planned.map((field) => [field.source, field]));
  given.fields.forEach(({ name }, f) => {
    const before = given.columns[f]!;
    const target = targets === null ? { name, fallsBackToIds: false } : targets.get(name);
    // Ids may fill such a field.
    if (target?.fallsBackToIds) return;
    const after = target === undefined ? null : (fitted.columns[indexOf.get(target.name) ?? -1] ?? null);
    if (after === before) return;
    const isEqual = after && findQuickComparison(before, after, { types: "layer" });
    for (let row = 0; row < fitted.length; row++) {
      const from = source(row);
      const hasBoth = before.presence[from] === Presence.value && after?.presence[row] === Presence.value;
      if (hasBoth && isEqual?.(from, row)) continue;
      const [one, other] = [textAt(before, from), after && textAt(after, row)];
      if (one === other) continue;
      const count = (changed.get(name) ?? 0) + 1;
      changed.set(name, count);
      if (count <= losses.countOf(name)) continue;
      found.push({ row, field: name, before: one ?? "null", after: other ?? "null" });
      return;
    }
  });
}

const textAt = (column: Column, row: number): string | null =>
  column.presence[row] === Presence.value ? textOfValue(column, row) : null;

/** Compares kinds, and x and y of all positions; heights and measures are dropped by count. */
function checkPositions(
  given: GeometryColumn,
  fitted: Batch,
  source: (row: number) => number,
  found: FitFault[],
): void {
  const { geometry } = fitted;
  if (geometry === given || (geometry.xy === given.xy && geometry.kinds === given.kinds)) return;
  for (let row = 0; row < fitted.length; row++) {
    const from = source(row);
    const [first, end] = positionRange(given, from);
    const [other, otherEnd] = positionRange(geometry, row);
    let isSame = geometry.kinds[row] === given.kinds[from] && otherEnd - other === end - first;
    for (let k = 0; isSame && k < 2 * (end - first); k++)
      isSame = Object.is(geometry.xy[2 * other + k], given.xy[2 * first + k]);
    if (isSame) continue;
    found.push({ row, field: null, before: "a geometry", after: "another geometry" });
    return;
  }
}
