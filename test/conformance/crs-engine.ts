/** What the comparison with PROJ needs of the sources: made into one file for the script, imported by the test as it is. */
export { intersectAreas } from "../../src/crs/area.js";
export { resolveDefinition } from "../../src/crs/definitions/parse.js";
export { publishedGrid } from "../../src/crs/grids/catalogue/index.js";
export { areaOfUse, crsContext, findOperation, operationNotes } from "../../src/crs/index.js";
export { PositionCounter } from "../../src/crs/operations/position-counter.js";
export { buildTransform } from "../../src/crs/operations/transform.js";
export { epsgLines, esriLines } from "../../src/crs/tables/index.js";
export { operationLines } from "../../src/crs/tables/operations.js";
export { Random } from "../../src/testing/random.js";
export { ntv2 } from "../crs/grids/synthetic-grids.js";
