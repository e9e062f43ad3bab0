/** What the comparison with PROJ needs of the sources: made into one file for the script, imported by the test as it is. */
export { crsContext, findOperation } from "../../src/crs/index.js";
export { resolve } from "../../src/crs/parse.js";
export { epsgLines, esriLines } from "../../src/crs/table/index.js";
export { buildTransform } from "../../src/crs/transform.js";
