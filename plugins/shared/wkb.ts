export { GeometryTextError } from "./geometry-text-error.js";
export { WkbReader } from "./wkb-reader.js";
export { WkbWriter } from "./wkb-writer.js";
