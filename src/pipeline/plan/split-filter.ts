/** What a request wants of a layer, for readers that can leave out whole parts of it. */
import { type Extent, isExtentWithin } from "../../model/geometry.js";
import type { SplitCondition, SplitFilter } from "../../model/layer.js";
import { splitAtAntimeridian } from "../../stages/geometry/bbox.js";
import type { Comparison, Expression, Operand } from "../../stages/where/expression.js";
import { parseExpression } from "../../stages/where/parse.js";
import type { ConvertRequest } from "../request.js";
import type { StagePlan } from "./plan-stages.js";

/** Stages between reader and box that move no position by more than the margin. */
const placePreservingStages = new Set([
  "ids-to-field",
  "where",
  "select",
  "cast",
  "rename",
  "check-coordinates",
  "check-area",
  "geometry-type",
  "bbox",
]);

/** `check-coordinates` moves positions by so much, in degrees. */
const marginDegrees = 1e-5;
const globe: Extent = [-360, -90, 360, 90];

const mirrored: Readonly<Record<Exclude<Comparison, "<>">, SplitCondition["comparison"]>> = {
  "=": "=",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

/** The filter for a layer; undefined if nothing can be decided without reading the features. */
export function splitFilter({ where, bbox }: ConvertRequest, { stages }: StagePlan): SplitFilter | undefined {
  const end = stages.findIndex(({ name }) => name === "bbox");
  const boxStages = stages.slice(0, end + 1);
  const keepsPlaces = boxStages.length > 0 && boxStages.every(({ name }) => placePreservingStages.has(name));
  const boxes = bbox && keepsPlaces ? splitAtAntimeridian(bbox).flatMap(widen) : null;
  const filtersFirst = stages.find(({ name }) => name !== "ids-to-field")?.name === "where";
  const idField = stages.find(({ name }) => name === "ids-to-field")?.settings.name;
  const conditions =
    where !== undefined && filtersFirst
      ? conditionsOf(parseExpression(where)).filter(({ field }) => field !== idField)
      : [];
  return boxes || conditions.length > 0 ? { boxes, conditions } : undefined;
}

/** The box with a margin; in degrees also a whole turn away, since longitudes may be continuous. */
function widen([west, south, east, north]: Extent): Extent[] {
  const wide: Extent = [west - marginDegrees, south - marginDegrees, east + marginDegrees, north + marginDegrees];
  if (!isExtentWithin([west, south, east, north], globe)) return [wide];
  return [wide, [wide[0] - 360, wide[1], wide[2] - 360, wide[3]], [wide[0] + 360, wide[1], wide[2] + 360, wide[3]]];
}

/** The comparisons that must hold for the expression to be true. */
function conditionsOf(expression: Expression): SplitCondition[] {
  switch (expression.kind) {
    case "and":
      return expression.operands.flatMap(conditionsOf);
    case "compare": {
      const { comparison, left, right } = expression;
      if (comparison === "<>") return [];
      return compareField(left, comparison, right) ?? compareField(right, mirrored[comparison], left) ?? [];
    }
    default:
      return [];
  }
}

function compareField(
  operand: Operand,
  comparison: SplitCondition["comparison"],
  other: Operand,
): SplitCondition[] | null {
  if (operand.kind !== "field" || other.kind !== "literal") return null;
  const { value } = other;
  if (value === null || typeof value === "boolean") return null;
  return [{ field: operand.name, comparison, value }];
}
