import { allGeometryTypes } from "../../src/model/index.js";
import { defineFormat } from "../../src/plugin/format.js";
import { findTopology } from "../shared/json/topology-head.js";
import { readOptions, writeOptions } from "./options.js";

/** TopoJSON 1.0 (github.com/topojson/topojson-specification). */
export default defineFormat({
  apiVersion: 1,
  id: "topojson",
  label: "TopoJSON",
  extensions: ["topojson", "json"],
  identify: (head) => {
    const bom = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
    return findTopology(head.toString("latin1", bom));
  },
  reader: { options: readOptions, indistinct: ["field-types"], load: () => import("./reader.js") },
  writer: {
    options: writeOptions,
    // Arcs are shared by x and y alone, so that heights could not be kept.
    capabilities: () => ({
      crs: "wgs84",
      continuousLongitudes: true,
      layers: "many",
      geometryTypes: allGeometryTypes,
      nullGeometry: true,
      z: false,
      m: false,
      fieldTypes: ["boolean", "int32", "int64", "double", "text", "date", "time", "datetime", "json"],
      ids: true,
      requiredScan: "nothing",
      supportsStreaming: true,
    }),
    load: () => import("./writer.js"),
  },
});
