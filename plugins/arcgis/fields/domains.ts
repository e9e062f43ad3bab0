/** Coded values: numbers or texts that stand for names (ArcGIS REST API, "Domain objects"; "Layer", types). */
import { isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";

export type CodedValue = string | number;

/** The names of the codes of a field; by subtype where the subtypes of a layer have their own. Plain data. */
export interface CodedDomain {
  readonly names: ReadonlyMap<CodedValue, string>;
  readonly bySubtype: ReadonlyMap<CodedValue, ReadonlyMap<CodedValue, string>>;
}

const isCode = (value: unknown): value is CodedValue => typeof value === "string" || typeof value === "number";

function codedNames(domain: unknown): Map<CodedValue, string> | null {
  if (!isObject(domain) || domain.type !== "codedValue") return null;
  const names = new Map<CodedValue, string>();
  for (const { code, name } of objectsOf(domain.codedValues))
    if (isCode(code) && typeof name === "string") names.set(code, name);
  return names;
}

/** The field whose value is the subtype of a feature; null if the layer has no subtypes. */
export function subtypeField(layer: Json): string | null {
  const name = textOf(layer.subtypeField) || textOf(layer.typeIdField);
  return name === "" ? null : name;
}

/**
 * The domain of a field; null if it has no coded values. The names of subtypes are those of the field that holds them.
 * @param layer the layer or feature set
 */
export function codedDomain(field: Json, layer: Json): CodedDomain | null {
  const name = textOf(field.name);
  const bySubtype = new Map<CodedValue, ReadonlyMap<CodedValue, string>>();
  const subtypes = new Map<CodedValue, string>();
  for (const type of [...objectsOf(layer.types), ...objectsOf(layer.subtypes)]) {
    const id = type.id ?? type.code;
    if (!isCode(id)) continue;
    if (typeof type.name === "string") subtypes.set(id, type.name);
    const own = isObject(type.domains) && name !== null ? codedNames(type.domains[name]) : null;
    if (own) bySubtype.set(id, own);
  }
  const own = codedNames(field.domain);
  if (own || bySubtype.size > 0) return { names: own ?? new Map(), bySubtype };
  const isSubtype = name !== null && name.toLowerCase() === subtypeField(layer)?.toLowerCase();
  return isSubtype && subtypes.size > 0 ? { names: subtypes, bySubtype } : null;
}

/** The name of a code; undefined if the domain does not have it. A number may be the code as text, and vice versa. */
export function nameOfCode(domain: CodedDomain, code: CodedValue, subtype: unknown): string | undefined {
  const names = (isCode(subtype) ? domain.bySubtype.get(subtype) : undefined) ?? domain.names;
  return names.get(code) ?? names.get(typeof code === "number" ? String(code) : Number(code));
}
