import { ByteWriter } from "../../canonical/byte-writer.js";
import { writeValue } from "../../canonical/canonical-value.js";
import { type ComparisonRules, comparisonOf, isComparedField } from "../../canonical/rules.js";
import type { Batch } from "../../model/batch.js";
import { jsonValueAt, Presence } from "../../model/column.js";
import { type Movement, measureMovement, type ToDegrees } from "./movement.js";
import { isSameShape, shapeOf } from "./shape.js";

/** A feature in a batch of its side. */
export interface RowReference {
  readonly batch: Batch;
  readonly row: number;
  /** Position in its layer, from 1. */
  readonly record: number;
}

/** A value before and after, as in JSON; null if there is none. */
export interface ValueChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** `moved`: only the geometry differs. `changed`: attributes differ, and the geometry may as well. */
export type ChangeKind = "added" | "removed" | "changed" | "moved";
export const changeKinds: readonly ChangeKind[] = ["added", "removed", "changed", "moved"];

export interface FeatureChange {
  readonly layer: string;
  readonly change: ChangeKind;
  /** The key as text; null if features were matched by content, or the feature has none. */
  readonly key: string | null;
  readonly old: RowReference | null;
  readonly new: RowReference | null;
  /** The differing attributes of a feature on both sides. */
  readonly values: readonly ValueChange[];
  /** Null if the geometry is the same, or the feature is only on one side. */
  readonly movement: Movement | null;
}

/** Compares the features of a pair. */
export class FeatureComparer {
  private readonly writers = [new ByteWriter(), new ByteWriter()] as const;

  constructor(
    private readonly rules: ComparisonRules,
    private readonly toDegrees: ToDegrees,
  ) {}

  /** @returns null if both are equal */
  compare(old: RowReference, recent: RowReference): Pick<FeatureChange, "change" | "values" | "movement"> | null {
    const values = this.compareValues(old, recent);
    const shapes = [shapeOf(old.batch.geometry, old.row), shapeOf(recent.batch.geometry, recent.row)] as const;
    const isMoved = !isSameShape(...shapes, this.rules);
    if (values.length === 0 && !isMoved) return null;
    const movement = isMoved ? measureMovement(...shapes, this.toDegrees) : null;
    return { change: values.length === 0 ? "moved" : "changed", values, movement };
  }

  private compareValues(old: RowReference, recent: RowReference): ValueChange[] {
    const names = new Set([...old.batch.fields, ...recent.batch.fields].map(({ name }) => name));
    const changes: ValueChange[] = [];
    for (const name of names) {
      if (!isComparedField(this.rules, name)) continue;
      const columns = [columnOf(old.batch, name), columnOf(recent.batch, name)] as const;
      const texts = [old, recent].map(({ row }, side) => {
        const writer = this.writers[side]!;
        writer.reset();
        const column = columns[side];
        if (column) writeValue(writer, column, row, comparisonOf(this.rules, name), this.rules);
        return writer.written;
      });
      if (!texts[0]!.equals(texts[1]!))
        changes.push({ field: name, old: jsonValueOf(columns[0], old.row), new: jsonValueOf(columns[1], recent.row) });
    }
    const { withIds } = this.rules;
    if (withIds) changes.push(...compareIds(old, recent));
    return changes;
  }
}

function compareIds(old: RowReference, recent: RowReference): ValueChange[] {
  const [before, after] = [idOf(old), idOf(recent)];
  return String(before) === String(after) ? [] : [{ field: "id", old: before, new: after }];
}

/** The id of a feature as in JSON; null if it has none. */
export const idOf = ({ batch, row }: RowReference): unknown => (batch.ids ? jsonValueAt(batch.ids, row) : null);

function columnOf({ fields, columns }: Batch, name: string) {
  const at = fields.findIndex((field) => field.name === name);
  return at < 0 ? undefined : columns[at];
}

const jsonValueOf = (column: ReturnType<typeof columnOf>, row: number): unknown =>
  column && column.presence[row] === Presence.value ? jsonValueAt(column, row) : null;
