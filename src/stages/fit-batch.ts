/** Fits batches to the capabilities of a writer by a plan, on any thread: assigns them to parts, and casts values. */
import type { Batch } from "../model/batch.js";
import { absentColumn, type Column, Presence } from "../model/column.js";
import { createFieldIndex, type Field, type FieldType, isPlainField } from "../model/field.js";
import { type GeometryColumn, geometryTypes } from "../model/geometry.js";
import { castColumn } from "./fields/cast.js";
import { type FitPlan, type FittedField, substitute, targetFields } from "./fit-plan.js";
import type { StageContext } from "./stage.js";

type FittedBatch = readonly [part: number, batch: Batch];

/** Applies the plan to a batch: one batch for each part that it touches. */
export function fitBatch(plan: FitPlan, batch: Batch, context: StageContext): FittedBatch[] {
  // Assigned to parts first, so that rejected features do not count losses.
  return routeToParts(plan, batch, context).map(([part, rows]) => [
    part,
    fitDimensions(plan, fitFields(plan, rows, context), context),
  ]);
}

function fitFields(plan: FitPlan, batch: Batch, context: StageContext): Batch {
  const dropped = plan.dropIds ? { ids: null } : {};
  if (!plan.fields) {
    const types = batch.fields.map((field) => substitute(field.type, plan.fieldTypes));
    if (types.every((type, f) => type === batch.fields[f]!.type)) return batch.with(dropped);
    return batch.with({
      ...dropped,
      fields: batch.fields.map((field, f) => ({ ...field, type: types[f]! })),
      columns: batch.columns.map((column, f) => castFittedColumn(column, batch.fields[f]!.name, types[f]!, context)),
    });
  }
  if (isFitted(plan.fields, batch)) return plan.dropIds ? batch.with(dropped) : batch;
  const absent = new Map<FieldType, Column>();
  const absentOf = (type: FieldType) => {
    let column = absent.get(type);
    if (!column) {
      column = absentColumn(type, batch.length);
      absent.set(type, column);
    }
    return column;
  };
  const columns =
    fitFewColumns(plan.fields, batch, absentOf, context) ?? fitAllColumns(plan.fields, batch, absentOf, context);
  const fields = batchFields(plan, batch);
  return batch.with({ ...dropped, fields, columns });
}

function fitAllColumns(
  fitted: readonly FittedField[],
  batch: Batch,
  absentOf: (type: FieldType) => Column,
  context: StageContext,
): Column[] {
  const find = createFieldIndex(batch.fields);
  return fitted.map((field) => {
    const own = field.source === null ? null : (batch.columns[find(field.source)] ?? null);
    const column = field.source === null || (field.fallsBackToIds && batch.ids) ? batch.ids : own;
    if (!column) return absentOf(field.type);
    return castFittedColumn(column, field.source ?? field.name, field.type, context);
  });
}

/** A batch with fewer than this part of the fields of the target is fitted by its own fields. */
const fewFieldsShare = 16;
const targetIndexCache = new WeakMap<readonly FittedField[], ReadonlyMap<string, number> | null>();

/** The index of each field of the target by its source; null where the ids are a field, or a source has two. */
function targetIndexes(fitted: readonly FittedField[]): ReadonlyMap<string, number> | null {
  const known = targetIndexCache.get(fitted);
  if (known !== undefined) return known;
  const indexes = new Map<string, number>();
  fitted.forEach(({ source, fallsBackToIds }, f) => {
    if (source !== null && !fallsBackToIds) indexes.set(source, f);
  });
  const found = indexes.size === fitted.length ? indexes : null;
  targetIndexCache.set(fitted, found);
  return found;
}

/** The columns of a batch that has few of very many fields; null for other batches. */
function fitFewColumns(
  fitted: readonly FittedField[],
  batch: Batch,
  absentOf: (type: FieldType) => Column,
  context: StageContext,
): Column[] | null {
  if (batch.fields.length * fewFieldsShare > fitted.length) return null;
  const indexes = targetIndexes(fitted);
  if (!indexes) return null;
  const columns: Column[] = [];
  let type: FieldType | null = null;
  let absent: Column | null = null;
  for (const field of fitted) {
    if (field.type !== type || !absent) {
      type = field.type;
      absent = absentOf(type);
    }
    columns.push(absent);
  }
  batch.fields.forEach(({ name }, f) => {
    const at = indexes.get(name);
    if (at !== undefined) columns[at] = castFittedColumn(batch.columns[f]!, name, fitted[at]!.type, context);
  });
  return columns;
}

/** Whether a batch already has the fields of the target. */
function isFitted(fitted: readonly FittedField[], { fields, ids }: Batch): boolean {
  if (fitted.length !== fields.length) return false;
  for (let f = 0; f < fields.length; f++) {
    const field = fields[f]!;
    const { source, name, type, fallsBackToIds } = fitted[f]!;
    if (source !== field.name || name !== field.name || type !== field.type || (fallsBackToIds && ids)) return false;
    if (!isPlainField(field) || !isPlainField(fitted[f]!)) return false;
  }
  return true;
}

function batchFields({ fields }: FitPlan, batch: Batch): readonly Field[] {
  const target = targetFields(fields!);
  if (!batch.fields.some(({ members }) => members)) return target;
  const find = createFieldIndex(batch.fields);
  return fields!.map(({ source, name }, f) => {
    const members = source === name ? batch.fields[find(source)]?.members : undefined;
    return members ? { ...target[f]!, members } : target[f]!;
  });
}

/** Casts without loss: to wider numbers, from text that a scan found to be dates, and to json, which keeps types. */
function isLosslessCast(from: FieldType, to: FieldType): boolean {
  if (to === "json") return from !== "binary";
  if (from === "text") return to === "date" || to === "time" || to === "datetime";
  return (from === "int32" && (to === "int64" || to === "double")) || (from === "int64" && to === "double");
}

function castFittedColumn(column: Column, name: string, type: FieldType, context: StageContext): Column {
  if (column.type === type) return column;
  if (!isLosslessCast(column.type, type)) {
    let values = 0;
    for (const presence of column.presence) if (presence === Presence.value) values++;
    if (values > 0) context.reportLoss("type-changed", name, `${column.type} became ${type}`, values);
  }
  return castColumn(column, type, name, context);
}

function countNumbers(values: Float64Array | null): number {
  let count = 0;
  if (values) for (const value of values) if (!Number.isNaN(value)) count++;
  return count;
}

function withoutDimensions(geometry: GeometryColumn, z: boolean, m: boolean): GeometryColumn {
  const members = geometry.members && withoutDimensions(geometry.members, z, m);
  return { ...geometry, z: z ? null : geometry.z, m: m ? null : geometry.m, members };
}

function countDimension(geometry: GeometryColumn, dimension: "z" | "m"): number {
  return countNumbers(geometry[dimension]) + (geometry.members ? countDimension(geometry.members, dimension) : 0);
}

function fitDimensions(plan: FitPlan, batch: Batch, context: StageContext): Batch {
  const z = plan.dropZ ? countDimension(batch.geometry, "z") : 0;
  const m = plan.dropM ? countDimension(batch.geometry, "m") : 0;
  if (z > 0) context.reportLoss("z-dropped", undefined, `${plan.targetName} has no heights`, z);
  if (m > 0) context.reportLoss("m-dropped", undefined, `${plan.targetName} has no measures (M)`, m);
  return z + m > 0 ? batch.with({ geometry: withoutDimensions(batch.geometry, plan.dropZ, plan.dropM) }) : batch;
}

function routeToParts(plan: FitPlan, batch: Batch, context: StageContext): FittedBatch[] {
  const { kinds } = batch.geometry;
  const rows: number[][] = plan.parts.map(() => []);
  const first = batch.length > 0 ? plan.partIndexByKind[kinds[0]!]! : 0;
  if (first >= 0 && kinds.every((kind) => plan.partIndexByKind[kind] === first))
    return batch.length > 0 ? [[first, batch]] : [];
  for (let row = 0; row < batch.length; row++) {
    const part = plan.partIndexByKind[kinds[row]!]!;
    if (part >= 0) rows[part]!.push(row);
    else rejectKind(plan, batch, row, context);
  }
  return rows.flatMap((of, part): FittedBatch[] => (of.length > 0 ? [[part, batch.take(Uint32Array.from(of))]] : []));
}

function rejectKind(plan: FitPlan, batch: Batch, row: number, context: StageContext): void {
  const type = geometryTypes[batch.geometry.kinds[row]!];
  const reason = type
    ? `${plan.targetName} cannot hold a ${type}`
    : `${plan.targetName} cannot hold a feature without geometry`;
  context.reject({
    code: "geometry-unsupported",
    reason,
    place: { record: batch.recordAt(row) },
    feature: batch.featureAt(row),
  });
}
