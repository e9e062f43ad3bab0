import { fieldTypes, type GeometryType } from "../../src/model/index.js";
import type { WriterCapabilities } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import type { writeOptions } from "./options.js";

/** A GPX file holds any field: extensions hold those without an element. */
export function writerCapabilities(options: OptionValues<typeof writeOptions>): WriterCapabilities {
  const geometryTypes: GeometryType[] = ["Point", "LineString", "MultiLineString"];
  if (options.multipoints === "waypoints") geometryTypes.push("MultiPoint");
  if (options.polygons === "tracks") geometryTypes.push("Polygon", "MultiPolygon");
  return {
    crs: "wgs84",
    // GPX 1.1, latitudeType and longitudeType
    degreesOnly: true,
    layers: "one",
    metadata: ["description", "author", "copyright", "links", "time", "keywords"],
    geometryTypes,
    onePointLines: true,
    nullGeometry: false,
    z: true,
    m: false,
    fieldTypes,
    ids: "fid",
    requiredScan: "nothing",
    supportsStreaming: true,
  };
}
