/** Compares features that were written with those that were read back, and explains what differs by the reported losses. */
import type { VerifiedDifference } from "../../errors/verify-errors.js";
import { type Column, Presence } from "../../model/column.js";
import { geometryAt } from "../../model/geometry.js";
import type { Loss, Notice } from "../../model/report.js";
import { acceptsId, acceptsValue, countGeometryLosses, isRepair, showValue, type Tolerance } from "./loss-effects.js";
import { type ProofColumn, proofColumns } from "./proof-columns.js";
import type { ProofRowEncoder } from "./proof-row.js";
import type { ProofRules } from "./proof-rules.js";
import type { ProofRow } from "./proof-side.js";

export interface Cell {
  readonly column: Column;
  readonly row: number;
}

/** A value that was written and one that was read back; null if that side lacks the field. */
export interface CellPair {
  readonly written: Cell | null;
  readonly read: Cell | null;
}

export interface RowPair {
  /** Position among the features that were written, from 1. */
  readonly feature: number;
  readonly written: ProofRow;
  readonly read: ProofRow;
}

/** Differences that a reported loss explains. */
export interface ExplainedLoss {
  readonly code: string;
  readonly field: string | null;
  /** As the writer counted them. */
  readonly reported: number;
  /** Values, geometries or ids that came back changed accordingly. */
  readonly found: number;
}

const maxDifferences = 100;
const maxShownLength = 120;

interface Budget {
  readonly code: string;
  readonly field: string | undefined;
  reported: number;
  found: number;
  /** Whether the reader noted it, and not the writer. */
  readonly isRepair: boolean;
}

const toBudget = ({ code, field, count }: Loss, isRepair: boolean): Budget => ({
  code,
  field,
  reported: count,
  found: 0,
  isRepair,
});

/** Collects the differences of a layer. */
export class DifferenceCollector {
  /** The first ones. */
  readonly differences: VerifiedDifference[] = [];
  count = 0;
  private readonly budgets: Budget[];

  constructor(
    private readonly layer: string,
    private readonly encoder: ProofRowEncoder,
    losses: readonly Loss[],
    /** Whether features without an id get one. */
    private readonly assignsIds: boolean,
  ) {
    this.budgets = losses.map((loss) => toBudget(loss, false));
  }

  /** Adds repairs that the reader noted, which explain differences as losses do. */
  addNotices(notices: readonly Notice[]): void {
    for (const notice of notices) {
      const { code, field, count } = notice;
      if (!isRepair(code)) continue;
      const known = this.budgets.find((each) => each.isRepair && each.code === code && each.field === field);
      if (known) known.reported += count;
      else this.budgets.push(toBudget(notice, true));
    }
  }

  private get tolerance(): Tolerance {
    const half = (decimals: number | null) => (decimals === null ? 0 : 0.5 * 10 ** -decimals * (1 + 1e-6));
    const { xy, z } = this.rules.decimals;
    return { xy: half(xy), z: half(z) };
  }

  private get rules(): ProofRules {
    return this.encoder.rules;
  }

  get explained(): ExplainedLoss[] {
    return this.budgets.map(({ code, field = null, reported, found }) => ({ code, field, reported, found }));
  }

  add(difference: Omit<VerifiedDifference, "layer">): void {
    this.count++;
    if (this.differences.length < maxDifferences) this.differences.push({ layer: this.layer, ...difference });
  }

  /**
   * Takes reported losses for a difference.
   * @param count how many losses with this code the difference needs; 0 if they do not explain it
   * @returns whether so many are left
   */
  explain(field: string | undefined, count: (code: string) => number): boolean {
    for (const budget of this.budgets) {
      if (budget.field !== field || budget.found >= budget.reported) continue;
      const needed = count(budget.code);
      if (needed === 0 || budget.found + needed > budget.reported) continue;
      budget.found += needed;
      return true;
    }
    return false;
  }

  addMissing(feature: number): void {
    this.add({ kind: "feature-missing", feature, field: null, written: "a feature", read: "no feature" });
  }

  addUnexpected(feature: number): void {
    this.add({ kind: "feature-added", feature, field: null, written: "no feature", read: "a feature" });
  }

  compare(pair: RowPair): void {
    this.compareGeometry(pair);
    this.compareAttributes(pair);
    this.compareIds(pair);
  }

  private compareGeometry(pair: RowPair): void {
    const { written, read, feature } = pair;
    const bytes = Buffer.from(this.encoder.geometry(written.batch, written.row));
    if (bytes.equals(this.encoder.geometry(read.batch, read.row))) return;
    if (this.explain(undefined, (code) => countGeometryLosses(code, pair, this.tolerance, this.rules.singleIsMulti)))
      return;
    const [before, after] = showDifferentEnds(showGeometry(written), showGeometry(read));
    this.add({ kind: "geometry", feature, field: null, written: before, read: after });
  }

  private compareAttributes({ written, read, feature }: RowPair): void {
    const byName = new Map<string, { written: ProofColumn | null; read: ProofColumn | null }>();
    for (const column of proofColumns(written.batch, this.rules))
      byName.set(column.name, { written: column, read: null });
    for (const column of proofColumns(read.batch, this.rules)) {
      const known = byName.get(column.name);
      if (known) known.read = column;
      else byName.set(column.name, { written: null, read: column });
    }
    for (const [name, columns] of byName) {
      const cell = (of: ProofColumn | null, row: number) => (of === null ? null : { column: of.column, row });
      const pair = { written: cell(columns.written, written.row), read: cell(columns.read, read.row) };
      if (this.isSameCell(pair, columns)) continue;
      if (this.explain(name, (code) => Number(acceptsValue(code, pair)))) continue;
      this.add({ kind: "value", feature, field: name, written: showCell(pair.written), read: showCell(pair.read) });
    }
  }

  private isSameCell(
    pair: CellPair,
    columns: { readonly written: ProofColumn | null; readonly read: ProofColumn | null },
  ): boolean {
    const bytesOf = (cell: Cell | null, of: ProofColumn | null) =>
      cell === null ? Buffer.alloc(0) : Buffer.from(this.encoder.cell(cell.column, cell.row, of!.writtenType));
    return bytesOf(pair.written, columns.written).equals(bytesOf(pair.read, columns.read));
  }

  private compareIds({ written, read, feature }: RowPair): void {
    if (!this.rules.withIds) return;
    const cell = ({ batch: { ids }, row }: ProofRow): Cell | null =>
      ids && ids.presence[row] === Presence.value ? { column: ids, row } : null;
    const [before, after] = [cell(written), cell(read)];
    if (before === null && (after === null || this.assignsIds)) return;
    const bytesOf = (id: Cell | null) =>
      id === null ? Buffer.alloc(0) : Buffer.from(this.encoder.id(id.column, id.row));
    if (bytesOf(before).equals(bytesOf(after)) || this.explain(undefined, (code) => Number(acceptsId(code)))) return;
    this.add({ kind: "id", feature, field: null, written: showValue(before), read: showValue(after) });
  }
}

const showCell = (cell: Cell | null): string => {
  if (cell === null || cell.column.presence[cell.row] === Presence.absent) return "no value";
  return showValue(cell);
};

export const showGeometry = ({ batch, row }: ProofRow): string => JSON.stringify(geometryAt(batch.geometry, row));

/** Shortens two long texts to where they begin to differ. */
function showDifferentEnds(one: string, other: string): readonly [string, string] {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, Math.min(same, Math.max(one.length, other.length) - 1) - 40);
  const show = (text: string) => {
    const part = text.slice(from, from + maxShownLength);
    return `${from > 0 ? "…" : ""}${part}${from + maxShownLength < text.length ? "…" : ""}`;
  };
  return one.length <= maxShownLength && other.length <= maxShownLength ? [one, other] : [show(one), show(other)];
}
