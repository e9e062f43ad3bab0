export { buildStage } from "./build.js";
export { castColumn } from "./cast.js";
export type { Stage, StageContext, StageSpec } from "./stage.js";
