export { dimensionsOf } from "./dimensions.js";
export { GeometryTextError } from "./geometry-text-error.js";
export { WktReader } from "./wkt-reader.js";
export { WktWriter } from "./wkt-writer.js";
