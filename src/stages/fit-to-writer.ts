/**
 * Fits features to the capabilities of a writer: assigns them to parts, renames fields and casts values. The plan is made
 * once from the layer summary; any thread can apply it.
 */
import type { Batch } from "../model/batch.js";
import { absentColumn, type Column, Presence } from "../model/column.js";
import {
  commonType,
  createFieldIndex,
  type Field,
  type FieldType,
  fieldDeclarations,
  isPlainField,
  uniqueName,
} from "../model/field.js";
import { type GeometryColumn, geometryTypes, Kind } from "../model/geometry.js";
import { type FieldSummary, type LayerSummary, restrictToKinds } from "../model/layer-summary.js";
import { truncateUtf8 } from "../model/truncate-utf8.js";
import type { WriterCapabilities } from "../plugin/format.js";
import { castColumn } from "./fields/cast.js";
import type { StageContext } from "./stage.js";

export interface FittedField {
  /** Name in the batches that arrive; null for the feature ids. */
  readonly source: string | null;
  /** Whether feature IDs fill missing values of this field, when appending to a file that stores IDs in a field. */
  readonly fallsBackToIds?: boolean;
  readonly name: string;
  readonly type: FieldType;
  readonly width?: number;
  readonly decimals?: number;
  readonly element?: Field["element"];
}

/** One output of a layer: places_point, places_line … */
export interface FitPart {
  /** Suffix of the output's name; empty if there is only one part. */
  readonly suffix: string;
  readonly kinds: readonly number[];
}

/** Plain data, made by `planFit`. */
export interface FitPlan {
  readonly parts: readonly FitPart[];
  /** Index of the part for each kind; −1 if the target cannot hold it. */
  readonly partIndexByKind: readonly number[];
  /** Fields in the order of the target; null if each batch has its own. */
  readonly fields: readonly FittedField[] | null;
  readonly fieldTypes: readonly FieldType[];
  readonly dropZ: boolean;
  readonly dropM: boolean;
  readonly dropIds: boolean;
  /** Name of the target for messages. */
  readonly targetName: string;
}

/** Replacements for types that the target lacks, best first; text holds everything. */
const substitutes: Readonly<Record<FieldType, readonly FieldType[]>> = {
  boolean: ["int32", "int64", "text"],
  int32: ["int64", "double", "text"],
  int64: ["text"],
  double: ["text"],
  date: ["text"],
  time: ["text"],
  datetime: ["text"],
  binary: ["text"],
  json: ["text"],
  text: [],
};

function substitute(type: FieldType, existing: readonly FieldType[]): FieldType {
  return existing.includes(type) ? type : (substitutes[type].find((other) => existing.includes(other)) ?? "text");
}

/**
 * Returns a name that the target allows: shortened and made unique, deterministically.
 * @param taken used names, each with the last number that was tried for it
 */
function fittedName(
  wanted: string,
  limits: NonNullable<WriterCapabilities["fieldNames"]>,
  taken: Map<string, number>,
): string {
  const { maxBytes = Number.POSITIVE_INFINITY, ignoreCase = false, pattern, allowedCharacter } = limits;
  const plainKey = ignoreCase ? wanted.toLowerCase() : wanted;
  const isHeld = wanted !== "" && !allowedCharacter && !pattern?.test(wanted) === !pattern;
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (isHeld && 3 * wanted.length <= maxBytes && !taken.has(plainKey)) {
    taken.set(plainKey, 0);
    return wanted;
  }
  const name = allowedCharacter
    ? Array.from(wanted, (character) => (allowedCharacter.test(character) ? character : "_")).join("")
    : wanted;
  const key = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const takes = (text: string) => text !== "" && (!pattern || pattern.test(text));
  // A pattern may refuse surrounding spaces and U+0000.
  const stem = takes(name) ? name : name.replaceAll("\0", "").trim() || "field";
  const cut = (bytes: number) => {
    const text = truncateUtf8(stem, bytes);
    return takes(text) ? text : text.trim();
  };
  const first = cut(maxBytes);
  let fitted = first;
  let n = taken.get(key(first)) ?? 0;
  while (taken.has(key(fitted))) {
    n++;
    fitted = `${cut(maxBytes - `_${n}`.length)}_${n}`;
  }
  taken.set(key(first), n);
  taken.set(key(fitted), taken.get(key(fitted)) ?? 0);
  return fitted;
}

function planFields(
  known: readonly Field[],
  idType: FieldType | null,
  accepts: WriterCapabilities,
  mergeIds: boolean,
): FittedField[] {
  const limits = accepts.fieldNames ?? {};
  const taken = new Map((limits.reserved ?? []).map((name) => [name, 0]));
  // Names are unique in a layer, so that a target without other limits than a pattern takes them as they are.
  const { pattern, ...otherLimits } = limits;
  const isTaken = ({ name }: Field) => name !== "" && (!pattern || pattern.test(name));
  const takesAll = Object.keys(otherLimits).length === 0 && known.every(isTaken);
  const toTarget = (source: string | null, wanted: string, field: Field): FittedField => {
    const name = takesAll ? wanted : fittedName(wanted, limits, taken);
    const type = substitute(field.type, accepts.fieldTypes);
    return isPlainField(field) ? { source, name, type } : { source, name, type, ...declaredOf(source, wanted, field) };
  };
  const declaredOf = (source: string | null, wanted: string, field: Field): Partial<FittedField> => ({
    // A declared width only applies to the declared type.
    ...(field.width !== undefined && accepts.fieldTypes.includes(field.type) ? { width: field.width } : {}),
    ...(field.element && wanted === source ? { element: field.element } : {}),
    ...(field.decimals !== undefined && accepts.fieldTypes.includes(field.type) ? { decimals: field.decimals } : {}),
  });
  const ids: FittedField[] = [];
  const idField = idFieldName(accepts, idType);
  const existing = mergeIds && idType ? known.find((field) => field.name === idField) : undefined;
  if (existing && idType) {
    return known.map((field) =>
      field === existing
        ? {
            ...toTarget(field.name, field.name, { ...field, type: commonType(field.type, idType) }),
            fallsBackToIds: true,
          }
        : toTarget(field.name, field.name, field),
    );
  }
  if (idType && idField !== null) {
    const name = uniqueName(idField, new Set(known.map((field) => field.name)));
    ids.push(toTarget(null, name, { name, type: idType }));
  }
  return [...ids, ...known.map((field) => toTarget(field.name, field.name, field))];
}

/** Name of the field for IDs of a type; null if the target holds them as IDs. */
function idFieldName({ ids }: WriterCapabilities, type: FieldType | null): string | null {
  if (ids === true) return null;
  if (typeof ids === "string") return ids;
  return type === null || ids.types.includes(type) ? null : ids.fallbackField;
}

function planParts(accepts: WriterCapabilities, summary: LayerSummary | null): FitPart[] {
  const kindsOf = (types: WriterCapabilities["geometryTypes"]) => types.map((type) => Kind[type]);
  if (!accepts.families) return [{ suffix: "", kinds: [Kind.none, ...kindsOf(accepts.geometryTypes)] }];
  const families = accepts.families.map((family) => ({ suffix: family.suffix, kinds: kindsOf(family.types) }));
  const present = families.filter((family) => !summary || family.kinds.some((kind) => summary.kinds[kind]!.count > 0));
  const parts = present.length > 0 ? present : families.slice(0, 1);
  const single = parts.length === 1;
  // Features without geometry go to the first part.
  return parts.map((part, i) => ({
    suffix: single ? "" : part.suffix,
    kinds: i === 0 ? [Kind.none, ...part.kinds] : part.kinds,
  }));
}

/**
 * Plans how a layer is fitted to a target.
 * @param summary of the features, if the writer needs it
 * @param mergeIds whether feature IDs go into an existing field in which the target stores IDs
 */
export function planFit(
  summary: LayerSummary | null,
  accepts: WriterCapabilities,
  targetName: string,
  mergeIds = false,
): FitPlan {
  const known = summary?.fields;
  const parts = planParts(accepts, summary);
  const partIndexByKind = geometryTypes.map((_, kind) => parts.findIndex((part) => part.kinds.includes(kind)));
  if (!accepts.nullGeometry) partIndexByKind[Kind.none] = -1;
  return {
    parts,
    partIndexByKind,
    fields: known ? planFields(known, summary?.idType ?? null, accepts, mergeIds) : null,
    fieldTypes: accepts.fieldTypes,
    dropZ: !accepts.z,
    dropM: !accepts.m,
    dropIds: idFieldName(accepts, summary?.idType ?? null) !== null,
    targetName,
  };
}

/** Adapts a plan to an existing layer: a field that exists, ignoring case, keeps its name and type. */
export function adoptExistingFields(plan: FitPlan, existing: readonly Field[]): FitPlan {
  const byName = new Map(existing.map((field) => [field.name.toLowerCase(), field]));
  const joined = (field: FittedField): FittedField => {
    const there = byName.get(field.name.toLowerCase());
    if (!there) return field;
    const { source, fallsBackToIds } = field;
    return { source, ...(fallsBackToIds ? { fallsBackToIds } : {}), ...there };
  };
  return { ...plan, fields: plan.fields?.map(joined) ?? null };
}

/** The summary of one part, with the fields of the target. */
export function summaryOfPart(plan: FitPlan, part: FitPart, summary: LayerSummary): LayerSummary {
  const find = createFieldIndex(summary.fields);
  const fields = (plan.fields ?? []).map((field) => {
    const from = field.source === null ? undefined : summary.fields[find(field.source)];
    const own = from ? maxCastBytes(from.type, field.type, from.maxBytes) : 0;
    const values = from?.values ?? summary.featureCount;
    const maxBytes = Math.max(own, from && !field.fallsBackToIds ? 0 : summary.maxIdBytes);
    return from && isUnchanged(from, field) && from.maxBytes === maxBytes
      ? from
      : fittedFieldSummary(field, values, maxBytes);
  });
  return { ...restrictToKinds(summary, part.kinds), fields, idType: plan.dropIds ? null : summary.idType };
}

/** Whether a field is the same in the target, so that its summary can be shared: there may be very many fields. */
const isUnchanged = (from: FieldSummary, to: FittedField): boolean =>
  from.name === to.name && from.type === to.type && isPlainField(from) && isPlainField(to);

function fittedFieldSummary(field: FittedField, values: number, maxBytes: number): FieldSummary {
  const { name, type } = field;
  return isPlainField(field) ? { name, type, values, maxBytes } : { ...targetField(field), values, maxBytes };
}

/** Bytes of the longest value after a cast. */
function maxCastBytes(from: FieldType, to: FieldType, bytes: number): number {
  return from === "binary" && to !== "binary" ? Math.ceil(bytes / 3) * 4 : bytes;
}

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

/** The target fields of a plan, shared by all batches. */
const targetFieldCache = new WeakMap<readonly FittedField[], readonly Field[]>();

export function targetFields(fitted: readonly FittedField[]): readonly Field[] {
  let fields = targetFieldCache.get(fitted);
  if (!fields) {
    fields = fitted.map(targetField);
    targetFieldCache.set(fitted, fields);
  }
  return fields;
}

/** Without spread syntax, whose objects take several times the memory. */
const targetField = (field: FittedField): Field => {
  const { name, type } = field;
  return isPlainField(field) ? { name, type } : { name, type, ...fieldDeclarations(field) };
};

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
