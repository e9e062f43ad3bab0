import { fieldTypes } from "../model/field.js";
import { allGeometryTypes } from "../model/geometry.js";
import type { WriterCapabilities } from "./format.js";

/** Of formats that pass batches on within the program, and keep everything. */
export const unlimitedCapabilities = {
  crs: "any",
  continuousLongitudes: true,
  layers: "many",
  geometryTypes: allGeometryTypes,
  onePointLines: true,
  nullGeometry: true,
  z: true,
  m: true,
  fieldTypes,
  ids: true,
  requiredScan: "nothing",
  supportsStreaming: false,
} as const satisfies WriterCapabilities;
