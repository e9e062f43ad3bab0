import { createError } from "../errors.js";
import { build as cast } from "./fields/cast.js";
import { build as idsToField } from "./fields/ids-to-field.js";
import { build as rename } from "./fields/rename.js";
import { build as select } from "./fields/select.js";
import { build as bbox } from "./geometry/bbox.js";
import { build as checkCoordinates } from "./geometry/check-coordinates.js";
import { build as dropDegenerate } from "./geometry/drop-degenerate.js";
import { build as dropDimensions } from "./geometry/drop-dimensions.js";
import { build as geometryType } from "./geometry/geometry-type.js";
import { build as mergeCollections } from "./geometry/merge-collections.js";
import { build as reportRounding } from "./geometry/report-rounding.js";
import { build as swapXy } from "./geometry/swap-xy.js";
import { build as limit } from "./limit.js";
import type { StageSettings } from "./settings.js";
import type { Stage, StageContext, StageSpec } from "./stage.js";

/** The export `build` of each stage's file. Asynchronous if it loads a library. */
type BuildStage = (settings: StageSettings, context: StageContext) => Stage | Promise<Stage>;

/** The stages by name. Large ones are loaded on first use. */
const stageBuilders: Readonly<Record<string, BuildStage>> = {
  reproject: async (...given) => (await import("./geometry/reproject.js")).build(...given),
  select,
  rename,
  cast,
  "check-coordinates": checkCoordinates,
  "check-area": async (...given) => (await import("./geometry/check-area.js")).build(...given),
  bbox,
  "geometry-type": geometryType,
  where: async (settings) => (await import("./where/index.js")).build(settings),
  "check-validity": async (...given) => (await import("./geometry/check-validity.js")).build(...given),
  "make-valid": async (...given) => (await import("./geometry/make-valid.js")).build(...given),
  limit,
  "ids-to-field": idsToField,
  "swap-xy": swapXy,
  "merge-collections": mergeCollections,
  "report-rounding": reportRounding,
  "drop-degenerate": dropDegenerate,
  "drop-dimensions": dropDimensions,
};

/**
 * Builds a stage from plain data.
 * @throws option-invalid for invalid settings, and errors of the stage
 */
export async function buildStage(spec: StageSpec, context: StageContext): Promise<Stage> {
  const build = Object.hasOwn(stageBuilders, spec.name) ? stageBuilders[spec.name] : undefined;
  if (!build) throw createError("internal", { reason: `there is no stage "${spec.name}"` });
  return build(spec.settings, context);
}
