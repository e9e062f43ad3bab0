/** Turns changes into features of a layer with old and new values. */

import { textOfValue } from "../../canonical/canonical-value.js";
import { Batch } from "../../model/batch.js";
import { type Column, type ColumnBuilder, columnBuilder, pushValue, type Value, valueAt } from "../../model/column.js";
import type { Field, FieldType } from "../../model/field.js";
import { geometryAt } from "../../model/geometry.js";
import { GeometryBuilder } from "../../model/geometry-builder.js";
import { toWkt } from "../../model/wkt.js";
import type { ComparedLayer } from "../compare.js";
import { type ComparisonChunk, toChunk } from "../spool/comparison-format.js";
import type { FeatureChange, RowReference } from "./feature-change.js";

/** Fields before those of the data. */
const ownFields: readonly Field[] = [
  { name: "change", type: "text" },
  { name: "key", type: "text" },
  { name: "changed", type: "text" },
  { name: "distance", type: "double" },
  { name: "height_change", type: "double" },
  { name: "old_record", type: "int64" },
  { name: "new_record", type: "int64" },
  { name: "old_geometry", type: "text" },
];

interface DataField extends Field {
  readonly source: string;
  readonly side: "old" | "new";
}

/** Every field of the data is there with its old and its new value. */
function dataFields({ oldFields, newFields }: Pick<ComparedLayer, "oldFields" | "newFields">): DataField[] {
  const newTypes = new Map(newFields.map(({ name, type }) => [name, type]));
  const oldTypes = new Map(oldFields.map(({ name, type }) => [name, type]));
  const names = new Set([...newTypes.keys(), ...oldTypes.keys()]);
  return [...names].flatMap((source) => {
    const before = oldTypes.get(source);
    const after = newTypes.get(source);
    return [
      ...(before === undefined ? [] : [{ name: `${source}_old`, type: before, source, side: "old" as const }]),
      ...(after === undefined ? [] : [{ name: `${source}_new`, type: after, source, side: "new" as const }]),
    ];
  });
}

const rowsPerBatch = 1000;

/** Collects changes of a layer into batches. */
export class ChangeLayerBuilder {
  private readonly data: readonly DataField[];
  private builders: ColumnBuilder[] = [];
  private geometry = new GeometryBuilder();
  private rows = 0;

  constructor(
    layer: Pick<ComparedLayer, "oldFields" | "newFields">,
    private readonly emit: (chunk: ComparisonChunk) => void,
  ) {
    this.data = dataFields(layer);
    this.reset();
  }

  get fields(): readonly Field[] {
    return [...ownFields, ...this.data.map(({ name, type }) => ({ name, type }))];
  }

  add(change: FeatureChange): void {
    const { old, new: recent, movement } = change;
    const shown = (recent ?? old)!;
    this.geometry.copy(shown.batch.geometry, shown.row);
    const changed = [...change.values.map(({ field }) => field), ...(movement ? ["geometry"] : [])];
    const before = movement && old ? geometryAt(old.batch.geometry, old.row) : null;
    const own: readonly (Value | undefined)[] = [
      change.change,
      change.key,
      changed.length === 0 ? null : changed.join(", "),
      movement?.distance ?? null,
      movement?.heightChange ?? null,
      old?.record ?? null,
      recent?.record ?? null,
      before && toWkt(before),
    ];
    own.forEach((value, at) => {
      pushValue(this.builders[at]!, value);
    });
    this.data.forEach(({ source, side, type }, at) => {
      pushValue(this.builders[ownFields.length + at]!, fieldValue(side === "old" ? old : recent, source, type));
    });
    if (++this.rows === rowsPerBatch) this.flush();
  }

  flush(): void {
    if (this.rows === 0) return;
    const batch = new Batch({
      length: this.rows,
      ids: null,
      fields: this.fields,
      columns: this.builders.map((builder) => builder.finish()),
      geometry: this.geometry.finish(),
      recordNumbers: null,
      firstRecord: 1,
    });
    this.emit(toChunk(batch, Buffer.alloc(0)));
    this.reset();
  }

  private reset(): void {
    this.builders = this.fields.map(({ type }) => columnBuilder(type));
    this.geometry = new GeometryBuilder();
    this.rows = 0;
  }
}

function fieldValue(row: RowReference | null, name: string, type: FieldType): Value | undefined {
  if (row === null) return undefined;
  const at = row.batch.fields.findIndex((field) => field.name === name);
  return at < 0 ? undefined : valueAs(row.batch.columns[at]!, row.row, type);
}

/** The value in a type that holds all values of the field, which may differ from that of the batch. */
function valueAs(column: Column, row: number, type: FieldType): Value {
  const value = valueAt(column, row);
  if (value === null || column.type === type) return value;
  if (type === "json") return JSON.stringify(typeof value === "bigint" ? Number(value) : value);
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (isNumber && (type === "double" || type === "int64" || type === "int32")) return value;
  return textOfValue(column, row);
}
