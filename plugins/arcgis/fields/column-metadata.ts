/** Aliases and domains of fields as metadata of columns. */
import type { ColumnMetadata, LayerMetadata } from "../../../src/model/index.js";
import { isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import type { FieldsPlan } from "./field-plan.js";

/** The metadata of a layer or feature set: its description, and titles and codes of its fields. */
export function layerMetadata(layer: Json, plan: FieldsPlan | null): LayerMetadata | undefined {
  const declared = new Map(objectsOf(layer.fields).map((field) => [field.name, field]));
  const columns = (plan?.fields ?? []).flatMap(({ field, attribute, domain }) =>
    columnMetadata(field.name, declared.get(attribute)!, domain !== null),
  );
  const description = textOf(layer.description)?.trim();
  if (!description && columns.length === 0) return undefined;
  return { ...(description && { description }), ...(columns.length > 0 && { columns }) };
}

function columnMetadata(column: string, field: Json, isNamed: boolean): ColumnMetadata[] {
  const alias = textOf(field.alias);
  const title = alias !== null && alias !== "" && alias !== column ? { title: alias } : {};
  const constraint = isNamed ? {} : codeConstraint(field.domain);
  return "title" in title || "constraint" in constraint ? [{ column, ...title, ...constraint }] : [];
}

function codeConstraint(domain: unknown): Pick<ColumnMetadata, "constraint"> {
  if (!isObject(domain) || domain.type !== "codedValue") return {};
  const rows = objectsOf(domain.codedValues).map(({ code, name }) => ({
    type: "enum",
    value: String(code),
    min: null,
    minInclusive: null,
    max: null,
    maxInclusive: null,
    description: textOf(name),
  }));
  return rows.length === 0 ? {} : { constraint: { name: textOf(domain.name) ?? "codes", rows } };
}
