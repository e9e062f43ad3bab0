import { fault } from "../errors.js";
import { build as bbox } from "./bbox.js";
import { build as cast } from "./cast.js";
import { build as checkCoordinates } from "./check-coordinates.js";
import { build as dropDegenerate } from "./drop-degenerate.js";
import { build as dropDimensions } from "./drop-dimensions.js";
import { build as geometryType } from "./geometry-type.js";
import { build as idsToField } from "./ids-to-field.js";
import { build as limit } from "./limit.js";
import { build as mergeCollections } from "./merge-collections.js";
import { build as rename } from "./rename.js";
import { build as select } from "./select.js";
import type { Settings } from "./settings.js";
import type { Stage, StageContext, StageSpec } from "./stage.js";
import { build as swapXy } from "./swap-xy.js";

/** What each stage's file exports as `build`. It may be asynchronous, where a library is loaded first. */
type Build = (settings: Settings, context: StageContext) => Stage | Promise<Stage>;

/** The stages by name. Those with much code behind them are loaded when they are used. */
const stages: Readonly<Record<string, Build>> = {
  reproject: async (...given) => (await import("./reproject.js")).build(...given),
  select,
  rename,
  cast,
  "check-coordinates": checkCoordinates,
  "check-area": async (...given) => (await import("./check-area.js")).build(...given),
  bbox,
  "geometry-type": geometryType,
  where: async (settings) => (await import("./where/index.js")).build(settings),
  "check-validity": async (...given) => (await import("./check-validity.js")).build(...given),
  "make-valid": async (...given) => (await import("./make-valid.js")).build(...given),
  limit,
  "ids-to-field": idsToField,
  "swap-xy": swapXy,
  "merge-collections": mergeCollections,
  "drop-degenerate": dropDegenerate,
  "drop-dimensions": dropDimensions,
};

/**
 * Builds a stage from plain data.
 * @throws option-invalid where the settings are not those of the stage, and what the stage itself refuses
 */
export async function buildStage(spec: StageSpec, context: StageContext): Promise<Stage> {
  const build = Object.hasOwn(stages, spec.name) ? stages[spec.name] : undefined;
  if (!build) throw fault("internal", { reason: `there is no stage "${spec.name}"` });
  return build(spec.settings, context);
}
