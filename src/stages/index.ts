export { buildStage } from "./build.js";
export { castColumn } from "./cast.js";
export { parseGeometryType } from "./geometry-type.js";
export type { Stage, StageContext, StageSpec } from "./stage.js";
export { type Coverage, type SwapHints, suspectSwap } from "./swapped-order.js";
export { fieldsAsValues, fieldsOf } from "./where/parse.js";
