import { allGeometryTypes } from "../../../src/model/index.js";
import type { TargetLayer, WriterCapabilities } from "../../../src/plugin/format.js";
import type { OptionValues } from "../../../src/plugin/options.js";
import type { sequenceWriteOptions, writeOptions } from "../options.js";

type SharedOptions =
  | OptionValues<Omit<typeof writeOptions, "bbox" | "crs">>
  | OptionValues<typeof sequenceWriteOptions>;

/** The encoder settings that both writers share. */
export function featureSettings(layer: TargetLayer, options: SharedOptions) {
  return {
    precision: options.precision,
    zPrecision: options.zPrecision,
    wind: options.rfc7946,
    // A projected CRS has no antimeridian.
    cut: options.antimeridian === "cut" && layer.crs?.kind !== "projected",
    ids: options.ids,
    idField: options.idField,
  };
}

/** Both formats hold everything except measures and bytes, for which JSON has no value. */
export const writerCapabilities: WriterCapabilities = {
  crs: "wgs84",
  continuousLongitudes: true,
  layers: "one",
  geometryTypes: allGeometryTypes,
  nullGeometry: true,
  z: true,
  m: false,
  fieldTypes: ["boolean", "int32", "int64", "double", "text", "date", "time", "datetime", "json"],
  ids: true,
  requiredScan: "nothing",
  supportsStreaming: true,
};
