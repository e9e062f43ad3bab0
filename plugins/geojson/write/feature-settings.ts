import { allGeometryTypes } from "../../../src/model/index.js";
import type { TargetLayer, WriterCapabilities } from "../../../src/plugin/format.js";
import type { OptionValues } from "../../../src/plugin/options.js";
import type { sequenceWriteOptions, writeOptions } from "../options.js";

type SharedOptions =
  | OptionValues<Omit<typeof writeOptions, "bbox" | "crs">>
  | OptionValues<typeof sequenceWriteOptions>;

/** What both writers tell the encoder. */
export function featureSettings(layer: TargetLayer, options: SharedOptions) {
  return {
    precision: options.precision,
    zPrecision: options.zPrecision,
    wind: options.rfc7946,
    // There is no antimeridian in a plane.
    cut: options.antimeridian === "cut" && layer.crs?.kind !== "projected",
    ids: options.ids,
    idField: options.idField,
  };
}

/** What both formats hold: all but measures and, as JSON has no such value, bytes. */
export const writerCapabilities: WriterCapabilities = {
  crs: "wgs84",
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
