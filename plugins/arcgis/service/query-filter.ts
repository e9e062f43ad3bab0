/** Filters of a request that a service can apply without leaving out a feature that is wanted. */

import type { Extent, SplitCondition } from "../../../src/model/index.js";
import { quoteLiteral } from "../../shared/sql-identifiers.js";
import type { FieldPlan } from "../fields/field-plan.js";

/** Parameters of a query that select features; every query of a read has the same ones. */
export type Selection = Readonly<Record<string, string>> & { readonly where: string };

export const everything: Selection = { where: "1=1" };

const plainName = /^[A-Za-z_]\w*$/;
/**
 * Text whose equality means the same in every database, or more: no letters beyond ASCII, which a code page may lack,
 * and no blanks at the ends, which some databases ignore.
 */
const plainText = /^[!-~]([ -~]*[!-~])?$/;
const plainNumber = /^-?\d+(\.\d+)?$/;
/** How far a number in a database may be from its value in JSON, relative to it. */
const slack: Readonly<Record<string, number>> = { esriFieldTypeDouble: 1e-12, esriFieldTypeSingle: 1e-5 };

/** The conditions that the service can apply, as SQL-92; `1=1` if there are none. */
export function whereOf(fields: readonly FieldPlan[], conditions: readonly SplitCondition[]): string {
  const terms = conditions.flatMap((condition) => termsOf(fields, condition));
  return terms.length === 0 ? everything.where : terms.join(" AND ");
}

/** The conditions of which `whereOf` has terms. */
export const sentConditions = (fields: readonly FieldPlan[], conditions: readonly SplitCondition[]): SplitCondition[] =>
  conditions.filter((condition) => termsOf(fields, condition).length > 0);

function termsOf(fields: readonly FieldPlan[], { field: name, comparison, value }: SplitCondition): string[] {
  const plan = fields.find(({ field }) => field.name === name);
  if (!plan || !plainName.test(plan.attribute) || plan.conversion !== "none") return [];
  const { attribute, type, esriType } = plan;
  if (typeof value === "string") {
    if (esriType !== "esriFieldTypeString" || comparison !== "=" || !plainText.test(value)) return [];
    return [`${attribute} = ${quoteLiteral(value)}`];
  }
  const text = String(value);
  if (type === "int32" || type === "int64") return plainNumber.test(text) ? [`${attribute} ${comparison} ${text}`] : [];
  const relative = slack[esriType];
  if (type !== "double" || relative === undefined) return [];
  const number = Number(value);
  const margin = Math.abs(number) * relative;
  const [low, high] = [String(number - margin), String(number + margin)];
  if (!plainNumber.test(low) || !plainNumber.test(high)) return [];
  const least = `${attribute} >= ${low}`;
  const most = `${attribute} <= ${high}`;
  if (comparison === "=") return [least, most];
  return [comparison.startsWith(">") ? least : most];
}

/** The features whose envelopes meet the box (ArcGIS REST API, "Query", geometry and spatialRel). */
export const boxSelection = (where: string, [xmin, ymin, xmax, ymax]: Extent): Selection => ({
  where,
  geometry: JSON.stringify({ xmin, ymin, xmax, ymax }),
  geometryType: "esriGeometryEnvelope",
  spatialRel: "esriSpatialRelEnvelopeIntersects",
});
