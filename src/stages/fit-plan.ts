/** Plans how a layer is fitted to the capabilities of a writer: its parts, and the names and types of its fields. */
import {
  commonType,
  createFieldIndex,
  type Field,
  type FieldType,
  fieldDeclarations,
  isPlainField,
  uniqueName,
} from "../model/field.js";
import { geometryTypes, Kind } from "../model/geometry.js";
import { type FieldSummary, type LayerSummary, restrictToKinds } from "../model/layer-summary.js";
import { truncateText } from "../model/truncate-text.js";
import type { WriterCapabilities } from "../plugin/format.js";

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

export function substitute(type: FieldType, existing: readonly FieldType[]): FieldType {
  return existing.includes(type) ? type : (substitutes[type].find((other) => existing.includes(other)) ?? "text");
}

/** Encodes names as the target stores them; characters that the encoding lacks become `?`. */
export type EncodeName = (text: string) => Uint8Array;

const encodeUtf8: EncodeName = (text) => Buffer.from(text, "utf8");

/** Whether the encoding has the character. */
const isEncodable = (character: string, encode: EncodeName): boolean =>
  character === "?" || Buffer.from(encode(character)).toString("latin1") !== "?";

/**
 * Returns a name that the target allows: shortened and made unique, deterministically.
 * @param taken used names, each with the last number that was tried for it
 */
function fittedName(
  wanted: string,
  limits: NonNullable<WriterCapabilities["fieldNames"]>,
  encode: EncodeName,
  taken: Map<string, number>,
): string {
  const { maxBytes = Number.POSITIVE_INFINITY, ignoreCase = false, pattern, allowedCharacter } = limits;
  const plainKey = ignoreCase ? wanted.toLowerCase() : wanted;
  const isHeld = wanted !== "" && !allowedCharacter && !pattern?.test(wanted) === !pattern && encode === encodeUtf8;
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (isHeld && 3 * wanted.length <= maxBytes && !taken.has(plainKey)) {
    taken.set(plainKey, 0);
    return wanted;
  }
  const isAllowed = (character: string) =>
    (!allowedCharacter || allowedCharacter.test(character)) && isEncodable(character, encode);
  const name = Array.from(wanted, (character) => (isAllowed(character) ? character : "_")).join("");
  const key = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const takes = (text: string) => text !== "" && (!pattern || pattern.test(text));
  const stem = takes(name) ? name : allowedPart(name, takes) || "field";
  const cut = (bytes: number) => {
    const text = truncateText(stem, bytes, (character) => encode(character).length);
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

/** The name without characters that the target refuses, and without spaces at its ends, which some refuse. */
function allowedPart(name: string, takes: (text: string) => boolean): string {
  const plain = name.replaceAll("\0", "").trim();
  if (takes(plain)) return plain;
  return Array.from(plain)
    .filter((character) => character.trim() === "" || takes(character))
    .join("")
    .trim();
}

function planFields(
  known: readonly Field[],
  idType: FieldType | null,
  accepts: WriterCapabilities,
  { mergeIds = false, encodeName = encodeUtf8 }: FitOptions,
): FittedField[] {
  const limits = accepts.fieldNames ?? {};
  const taken = new Map((limits.reserved ?? []).map((name) => [name, 0]));
  // Names are unique in a layer, so that a target without other limits than a pattern takes them as they are.
  const { pattern, ...otherLimits } = limits;
  const isTaken = ({ name }: Field) => name !== "" && (!pattern || pattern.test(name));
  const takesAll = Object.keys(otherLimits).length === 0 && known.every(isTaken);
  const toTarget = (source: string | null, wanted: string, field: Field): FittedField => {
    const name = takesAll ? wanted : fittedName(wanted, limits, encodeName, taken);
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

export interface FitOptions {
  /** Whether feature IDs go into an existing field in which the target stores IDs. */
  readonly mergeIds?: boolean;
  /** Of the encoding in `capabilities.fieldNames`. Absent: UTF-8. */
  readonly encodeName?: EncodeName | undefined;
}

/**
 * Plans how a layer is fitted to a target.
 * @param summary of the features, if the writer needs it
 */
export function planFit(
  summary: LayerSummary | null,
  accepts: WriterCapabilities,
  targetName: string,
  options: FitOptions = {},
): FitPlan {
  const known = summary?.fields;
  const parts = planParts(accepts, summary);
  const partIndexByKind = geometryTypes.map((_, kind) => parts.findIndex((part) => part.kinds.includes(kind)));
  if (!accepts.nullGeometry) partIndexByKind[Kind.none] = -1;
  return {
    parts,
    partIndexByKind,
    fields: known ? planFields(known, summary?.idType ?? null, accepts, options) : null,
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
