import { fault } from "../errors.js";
import type { Settings } from "./settings.js";
import type { Stage, StageContext, StageSpec } from "./stage.js";

/** What each stage's file exports as `build`. It may be asynchronous, where a library is loaded first. */
type Build = (settings: Settings, context: StageContext) => Stage | Promise<Stage>;

/** The stages by name, each loaded only when it is used. */
const stages: Readonly<Record<string, () => Promise<{ build: Build }>>> = {
  reproject: () => import("./reproject.js"),
  select: () => import("./select.js"),
  rename: () => import("./rename.js"),
  cast: () => import("./cast.js"),
  "check-coordinates": () => import("./check-coordinates.js"),
  bbox: () => import("./bbox.js"),
  "geometry-type": () => import("./geometry-type.js"),
  where: () => import("./where/index.js"),
  "check-validity": () => import("./check-validity.js"),
  "make-valid": () => import("./make-valid.js"),
  limit: () => import("./limit.js"),
  "ids-to-field": () => import("./ids-to-field.js"),
  "swap-xy": () => import("./swap-xy.js"),
  "merge-collections": () => import("./merge-collections.js"),
  "drop-degenerate": () => import("./drop-degenerate.js"),
  "drop-dimensions": () => import("./drop-dimensions.js"),
};

/**
 * Builds a stage from plain data.
 * @throws option-invalid where the settings are not those of the stage, and what the stage itself refuses
 */
export async function buildStage(spec: StageSpec, context: StageContext): Promise<Stage> {
  const load = Object.hasOwn(stages, spec.name) ? stages[spec.name] : undefined;
  if (!load) throw fault("internal", { reason: `there is no stage "${spec.name}"` });
  const { build } = await load();
  return build(spec.settings, context);
}
