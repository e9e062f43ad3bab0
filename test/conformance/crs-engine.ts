/** What the comparison with PROJ needs of the sources: made into one file for the script, imported by the test as it is. */
export { commonArea } from "../../src/crs/area.js";
export { publishedGrid } from "../../src/crs/grids/catalogue/index.js";
export { areaOfUse, crsContext, findOperation, statementsOf } from "../../src/crs/index.js";
export { resolve } from "../../src/crs/parse.js";
export { PositionTally } from "../../src/crs/position-tally.js";
export { epsgLines, esriLines } from "../../src/crs/table/index.js";
export { operationLines } from "../../src/crs/table/operations.js";
export { buildTransform } from "../../src/crs/transform.js";
export { Random } from "../../src/testing/random.js";
export { ntv2 } from "../crs/synthetic-grids.js";
