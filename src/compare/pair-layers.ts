/** Pairs the layers of both sides, and finds what differs in their schemas. */

import { comparisonOfTypes, type FieldComparison } from "../canonical/rules.js";
import { crsContext, isSameCrs } from "../crs/index.js";
import type { FieldType } from "../model/field.js";
import type { Crs } from "../model/layer.js";
import type { WriterCapabilities } from "../plugin/format.js";
import { parseOptions } from "../plugin/options.js";
import type { Registry } from "../plugin/registry.js";
import type { SpooledLayer } from "./spool/spooled-side.js";

export interface LayerPair {
  readonly name: string;
  readonly old: SpooledLayer;
  readonly new: SpooledLayer;
}

export interface PairedLayers {
  readonly pairs: readonly LayerPair[];
  /** Layers that only one side has. */
  readonly removed: readonly SpooledLayer[];
  readonly added: readonly SpooledLayer[];
}

/** Pairs layers by name. Two sides of one layer each are a pair, even with different names, since many formats name it by the file. */
export function pairLayers(old: readonly SpooledLayer[], recent: readonly SpooledLayer[]): PairedLayers {
  const [onlyOld] = old;
  const [onlyNew] = recent;
  if (onlyOld && onlyNew && old.length === 1 && recent.length === 1)
    return { pairs: [{ name: onlyNew.name, old: onlyOld, new: onlyNew }], removed: [], added: [] };
  const byName = new Map(old.map((layer) => [layer.name, layer]));
  const pairs = recent.flatMap((layer) => {
    const found = byName.get(layer.name);
    return found ? [{ name: layer.name, old: found, new: layer }] : [];
  });
  const paired = new Set(pairs.map(({ name }) => name));
  const unpaired = ({ name }: SpooledLayer) => !paired.has(name);
  return { pairs, removed: old.filter(unpaired), added: recent.filter(unpaired) };
}

/** What a format can hold, as far as a comparison needs it. */
interface FormatLimits {
  /** Null if it is not known. */
  readonly fieldTypes: readonly FieldType[] | null;
  readonly infersTypes: boolean;
  readonly emptyTextIsNull: boolean;
  readonly padsText: boolean;
  readonly z: boolean;
  readonly m: boolean;
  /** The field that gets the ids of features, which the format cannot hold; null if it holds them. */
  readonly idField: string | null;
}

export function limitsOf(id: string, registry: Registry): FormatLimits {
  const known = registry.formatIds().includes(id) ? registry.get(id) : null;
  const indistinct = known?.reader?.indistinct ?? [];
  const writer = known?.writer;
  const capabilities = writer?.capabilities(parseOptions(id, writer.options, {}));
  return {
    fieldTypes: capabilities?.fieldTypes ?? null,
    infersTypes: indistinct.includes("field-types"),
    emptyTextIsNull: indistinct.includes("empty-text"),
    padsText: indistinct.includes("trailing-blanks"),
    z: capabilities?.z ?? true,
    m: capabilities?.m ?? true,
    idField: idFieldOf(capabilities?.ids ?? true),
  };
}

const idFieldOf = (ids: WriterCapabilities["ids"]): string | null =>
  ids === true ? null : typeof ids === "string" ? ids : ids.fallbackField;

/** A field that only one side has, or whose types differ. */
export interface FieldDifference {
  readonly field: string;
  readonly change: "added" | "removed" | "type";
  readonly old: FieldType | null;
  readonly new: FieldType | null;
}

export interface SchemaComparison {
  readonly differences: readonly FieldDifference[];
  /** Fields of both sides. */
  readonly shared: readonly string[];
  /** Of fields whose types differ in kind. */
  readonly comparisons: Readonly<Record<string, FieldComparison>>;
  /** Fields of one side that hold the ids of the other side, since the format has none. They are not compared. */
  readonly idFields: readonly { readonly field: string; readonly side: "old" | "new" }[];
}

export function compareSchemas(
  old: SpooledLayer,
  recent: SpooledLayer,
  ignored: readonly string[],
  limits: { readonly old: FormatLimits; readonly new: FormatLimits },
): SchemaComparison {
  const before = new Map(old.fields.map(({ name, type }) => [name, type]));
  const after = new Map(recent.fields.map(({ name, type }) => [name, type]));
  const differences: FieldDifference[] = [];
  const shared: string[] = [];
  const comparisons: Record<string, FieldComparison> = {};
  // The fields of a side without features are unknown if the format stores them in features only.
  const isKnown = (layer: SpooledLayer, { infersTypes }: FormatLimits) =>
    layer.rows > 0 || layer.fields.length > 0 || !infersTypes;
  const idFields: { readonly field: string; readonly side: "old" | "new" }[] = [];
  const isIdField = (field: string, side: "old" | "new"): boolean => {
    const [own, other] = side === "old" ? [old, recent] : [recent, old];
    if (limits[side].idField !== field || own.hasIds || !other.hasIds) return false;
    idFields.push({ field, side });
    return true;
  };
  for (const [name, type] of before) {
    if (ignored.includes(name)) continue;
    const other = after.get(name);
    if (other === undefined) {
      if (isKnown(recent, limits.new) && !isIdField(name, "old"))
        differences.push({ field: name, change: "removed", old: type, new: null });
      continue;
    }
    shared.push(name);
    const comparison = comparisonOfTypes(type, other);
    if (comparison !== "own") Object.defineProperty(comparisons, name, { value: comparison, enumerable: true });
    if (type !== other && !mayBeSameType(type, other, limits))
      differences.push({ field: name, change: "type", old: type, new: other });
  }
  for (const [name, type] of after) {
    if (before.has(name) || ignored.includes(name) || !isKnown(old, limits.old) || isIdField(name, "new")) continue;
    differences.push({ field: name, change: "added", old: null, new: type });
  }
  return { differences, shared, comparisons, idFields };
}

/** Whether the types can differ only because one of the formats lacks the type of the other side. */
function mayBeSameType(
  old: FieldType,
  recent: FieldType,
  limits: { readonly old: FormatLimits; readonly new: FormatLimits },
): boolean {
  // Two formats that infer types differ in the kind of values only if the values do.
  if (limits.old.infersTypes && limits.new.infersTypes) return comparisonOfTypes(old, recent) === "own";
  if (limits.old.infersTypes || limits.new.infersTypes) return true;
  const lacks = (types: readonly FieldType[] | null, type: FieldType) => types !== null && !types.includes(type);
  return lacks(limits.old.fieldTypes, recent) || lacks(limits.new.fieldTypes, old);
}

export interface CrsComparison {
  /** As declared; null if a side declares none. */
  readonly old: Crs | null;
  readonly new: Crs | null;
  /** `unknown` if only one side declares its system. */
  readonly relation: "same" | "different" | "unknown";
  /** The systems that the coordinates are taken to be in. */
  readonly taken: { readonly old: Crs | null; readonly new: Crs | null };
  /** Both sides are compared in WGS 84, since they are in different systems. */
  readonly isReprojected: boolean;
}

/**
 * A side that declares no system is in WGS 84 if all its coordinates are in the range of degrees, as in a conversion, or
 * else in the system of the other side. Tables without geometry have no system to compare.
 */
export async function compareCrs(old: SpooledLayer, recent: SpooledLayer): Promise<CrsComparison> {
  const [before, after] = [old.crs, recent.crs];
  const hasGeometry = old.geometryTypes.length > 0 && recent.geometryTypes.length > 0;
  const isUnknown = hasGeometry && (before === null) !== (after === null);
  const assume = (layer: SpooledLayer, other: Crs) => (layer.inDegrees ? crsContext.wgs84 : other);
  const taken = {
    old: isUnknown && before === null ? assume(old, after!) : before,
    new: isUnknown && after === null ? assume(recent, before!) : after,
  };
  const isSame = taken.old === null || taken.new === null || (await isSameCrs(taken.old, taken.new));
  const isReprojected = hasGeometry && !isSame;
  const isDifferent = before !== null && after !== null && !(await isSameCrs(before, after));
  const relation = isUnknown ? "unknown" : isDifferent ? "different" : "same";
  return { old: before, new: after, relation, taken, isReprojected };
}
