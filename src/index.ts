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
export type { Connection } from "./remote/connection.js";
export type { ServiceClient, Traffic } from "./remote/map-client.js";
export { openService, usualTraffic } from "./remote/service.js";
export type { ApplyReport } from "./sync/apply-tools.js";
export { isUnchanged, type Prepared, type Unchanged } from "./sync/prepare.js";
export { type SyncRequest, usualSettings } from "./sync/request.js";
export { type Onlooker, rehearse, type Synchronised, synchronise } from "./sync/sync.js";
export { SyncRun, type SyncTools } from "./sync/sync-run.js";
