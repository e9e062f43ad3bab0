/** The tables that every system other than WGS84 and Web Mercator needs. */
export { epsgLines } from "./crs-epsg.js";
export { esriLines } from "./crs-esri.js";
export { datumLines } from "./datums.js";
export { ellipsoidLines } from "./ellipsoids.js";
export { meridianLines } from "./meridians.js";
export { operationLines } from "./operations.js";
export { unitLines } from "./units.js";
