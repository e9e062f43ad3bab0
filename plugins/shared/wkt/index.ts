export { dimensionsOf } from "../dimensions.js";
export { GeometryParseError } from "../geometry-parse-error.js";
export { WktReader } from "./reader.js";
export { WktWriter } from "./writer.js";
