import {
  type ChangeKind,
  changeKinds,
  type FeatureChange,
  type RowReference,
} from "../../compare/changes/feature-change.js";
import type { ToDegrees } from "../../compare/changes/movement.js";
import type { ComparedLayer } from "../../compare/compare.js";
import { forEachPosition } from "../../model/for-each-position.js";
import { type Geometry, geometryAt } from "../../model/geometry.js";
import { takeGeometries } from "../../model/geometry-builder.js";
import { changeName, movementWords } from "../output/diff-report.js";
import { allocateRows, defaultLimits } from "../plan-page/collect-rows.js";
import type { DrawnMembers, PageRow } from "../plan-page/page-data.js";

export interface ChangeRow {
  readonly layer: string;
  readonly row: PageRow<ChangeKind>;
  readonly values: FeatureChange["values"];
  /** How the geometry changed; null if it did not. */
  readonly moved: string | null;
}

export interface PageChanges {
  readonly rows: readonly ChangeRow[];
  /** By kind of change, the number of features that the page omits. */
  readonly remaining: Readonly<Record<ChangeKind, number>>;
}

/** Collects the first changes of each kind, up to the limits of a page. */
export class ChangeCollector {
  private readonly rows = new Map<ChangeKind, ChangeRow[]>(changeKinds.map((kind) => [kind, []]));
  private readonly characters = new Map<ChangeKind, number>();
  private readonly counts: Record<ChangeKind, number> = { added: 0, removed: 0, changed: 0, moved: 0 };

  constructor(private readonly limits: { readonly rows: number; readonly characters: number } = defaultLimits) {}

  add(change: FeatureChange, layer: ComparedLayer): void {
    const kind = change.change;
    const rows = this.rows.get(kind)!;
    this.counts[kind]++;
    const used = this.characters.get(kind) ?? 0;
    if (rows.length >= this.limits.rows || used > this.limits.characters / changeKinds.length) return;
    const row = toChangeRow(change, layer);
    this.characters.set(kind, used + JSON.stringify(row).length);
    rows.push(row);
  }

  /** @param hasLayers whether names start with that of the layer */
  finish(hasLayers: boolean): PageChanges {
    const held = Object.fromEntries([...this.rows].map(([kind, rows]) => [kind, rows.length])) as Record<
      ChangeKind,
      number
    >;
    const allowance = allocateRows(changeKinds, held, this.limits.rows);
    const kept = changeKinds.flatMap((kind) => this.rows.get(kind)!.slice(0, allowance[kind]));
    const rows = hasLayers ? kept.map(withLayer) : kept;
    const remaining = Object.fromEntries(
      changeKinds.map((kind) => [kind, this.counts[kind] - allowance[kind]]),
    ) as Record<ChangeKind, number>;
    return { rows, remaining };
  }
}

const withLayer = (one: ChangeRow): ChangeRow => ({
  ...one,
  row: { ...one.row, name: `${one.layer}: ${one.row.name}` },
});

function toChangeRow(change: FeatureChange, layer: ComparedLayer): ChangeRow {
  const name = changeName(change);
  const members = (row: RowReference | null): DrawnMembers | null =>
    row && { geometry: geometryInDegrees(row, layer.toDegrees), properties: row.batch.featureAt(row.row).properties };
  const row = {
    class: change.change,
    name,
    before: members(change.old),
    after: members(change.new),
  };
  return { layer: layer.name, row, values: change.values, moved: change.movement && movementWords(change) };
}

/** In longitude and latitude, to 0.0000001 degrees; null if it has none, or cannot be on a map. */
function geometryInDegrees({ batch, row }: RowReference, toDegrees: ToDegrees): Geometry | null {
  const column = takeGeometries(batch.geometry, Uint32Array.of(row));
  for (let part: typeof column | null = column; part !== null; part = part.members) toDegrees?.(part.xy);
  const geometry = geometryAt(column, 0);
  let isValid = true;
  forEachPosition(geometry, (position) => {
    for (let i = 0; i < 2; i++) position[i] = Math.round(position[i]! * 1e7) / 1e7;
    isValid &&= Math.abs(position[0]!) <= 360 && Math.abs(position[1]!) <= 90;
  });
  return isValid ? geometry : null;
}
