/** The library: what the command line does, for programs. */
export { builtins } from "../plugins/index.js";
export * from "./errors.js";
export { convert } from "./pipeline/convert.js";
export { convertMany, type Outcome } from "./pipeline/convert-many.js";
export { type InspectReport, inspect, type LayerReport } from "./pipeline/inspect.js";
export type { ConvertReport, OutputReport } from "./pipeline/report.js";
export type { ConvertRequest, Host, Progress } from "./pipeline/request.js";
export { loadPlugin } from "./plugin/load.js";
export { Registry } from "./plugin/registry.js";
