export { buildStage } from "./build-stage.js";
export { castColumn } from "./fields/cast.js";
export { parseGeometryType } from "./geometry/geometry-type.js";
export type { Stage, StageContext, StageSpec } from "./stage.js";
export { type CoordinateCoverage, type SwapHints, suspectSwap } from "./suspect-swap.js";
export { fieldsMeantAsValues, referencedFields } from "./where/parse.js";
