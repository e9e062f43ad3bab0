/** What a plugin is made of: `import { defineFormat } from "geoferry/plugin"`. */
export { createError, type ErrorCode, GeoferryError, type Place } from "../errors.js";
export * from "../model/index.js";
export * from "./format.js";
export * from "./http.js";
export * from "./options.js";
