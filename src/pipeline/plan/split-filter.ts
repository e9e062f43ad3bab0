/** What a request wants of a layer, for readers that can leave out whole parts of it. */

import type { Operation } from "../../crs/index.js";
import { type Extent, isExtentWithin } from "../../model/geometry.js";
import type { Layer, SplitCondition, SplitFilter } from "../../model/layer.js";
import { splitAtAntimeridian } from "../../stages/geometry/bbox.js";
import type { StageSpec } from "../../stages/stage.js";
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

/**
 * The filter for a layer; undefined if nothing can be decided without reading the features.
 * @param geometryTypes what the features of the layer can have; null if unknown
 */
export async function splitFilter(
  { where, bbox }: ConvertRequest,
  { stages }: StagePlan,
  { geometryTypes }: Pick<Layer, "geometryTypes">,
): Promise<SplitFilter | undefined> {
  const boxes = bbox ? await boxesOf(bbox, stages, geometryTypes) : null;
  const filtersFirst = stages.find(({ name }) => name !== "ids-to-field")?.name === "where";
  const idField = stages.find(({ name }) => name === "ids-to-field")?.settings.name;
  const conditions =
    where !== undefined && filtersFirst
      ? conditionsOf(parseExpression(where)).filter(({ field }) => field !== idField)
      : [];
  return boxes || conditions.length > 0 ? { boxes, conditions } : undefined;
}

/** The boxes in the coordinates of the layer in which the wanted features must be; null if they can be anywhere. */
async function boxesOf(
  bbox: Extent,
  stages: StagePlan["stages"],
  geometryTypes: Layer["geometryTypes"],
): Promise<readonly Extent[] | null> {
  const before = stages.slice(
    0,
    stages.findIndex(({ name }) => name === "bbox"),
  );
  const moves = before.filter(({ name }) => !placePreservingStages.has(name));
  if (moves.length === 0) return splitAtAntimeridian(bbox).flatMap(widen);
  const [{ name, settings }, ...others] = moves as [StageSpec];
  const isPoints = geometryTypes?.every((type) => type === "Point" || type === "MultiPoint");
  if (name !== "reproject" || others.length > 0 || !isPoints) return null;
  // Transformations are loaded on demand.
  const { boxBeforeReprojection } = await import("./box-before-reprojection.js");
  const boxes: Extent[] = [];
  for (const part of splitAtAntimeridian(bbox)) {
    const box = await boxBeforeReprojection(part, settings.operation as Operation);
    if (box === null) return null;
    boxes.push(...widen(box));
  }
  return boxes;
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
