export { GeometryParseError } from "../geometry-parse-error.js";
export { WkbReader } from "./reader.js";
export { WkbWriter } from "./writer.js";
