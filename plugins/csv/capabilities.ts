import { allGeometryTypes } from "../../src/model/geometry.js";
import type { WriterCapabilities } from "../../src/plugin/format.js";
import type { WriterOptions } from "./options.js";

/** Coordinate columns hold points; GeoJSON is WGS84 without measures (RFC 7946, 4); WKT and WKB hold every geometry. */
export function writerCapabilities({ geometry }: WriterOptions): WriterCapabilities {
  return {
    crs: geometry === "geojson" ? "wgs84" : "any",
    continuousLongitudes: true,
    layers: "one",
    geometryTypes: geometry === "xy" ? ["Point"] : allGeometryTypes,
    nullGeometry: true,
    z: true,
    m: geometry !== "xy" && geometry !== "geojson",
    storesEveryCell: true,
    fieldTypes: ["boolean", "int32", "int64", "double", "text", "date", "time", "datetime"],
    fieldNames: { pattern: /\S/ },
    ids: "id",
    requiredScan: "summary",
    supportsStreaming: true,
    hasDialects: true,
  };
}
