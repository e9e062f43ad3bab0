import { allGeometryTypes, fieldTypes } from "../../src/model/index.js";
import { defineFormat } from "../../src/plugin/format.js";
import { removeForbidden } from "../shared/xml/escape.js";
import { rateKml } from "./identify.js";
import { readOptions, writeOptions } from "./options.js";

/** OGC KML 2.2 and 2.3 (07-147r2, 12-007r2) with Google's extensions (gx); the reader also accepts Google's KML 2.0 and 2.1. */
export default defineFormat({
  apiVersion: 1,
  id: "kml",
  label: "KML",
  extensions: ["kml", "kmz"],
  archive: {
    extensions: ["kmz"],
    findMain: (entries) =>
      entries.find((path) => /^doc\.kml$/i.test(path)) ?? entries.find((path) => /\.kml$/i.test(path)),
    // NetworkLinks refer to them.
    isLinked: (path) => /\.kml$/i.test(path),
    mainName: "doc.kml",
  },
  identify: rateKml,
  reader: { options: readOptions, indistinct: ["field-types"], load: () => import("./reader.js") },
  writer: {
    options: writeOptions,
    capabilities: () => ({
      crs: "wgs84",
      layers: "many",
      metadata: ["description", "author", "links", "columns", "elements"],
      // Readers take white space at the edges for indentation.
      normalizeLayerName: (name) => removeForbidden(name).trim() || "layer",
      geometryTypes: allGeometryTypes,
      nullGeometry: true,
      z: true,
      m: false,
      fieldTypes,
      // XML 1.0, section 2.2
      fieldNames: { pattern: /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u },
      ids: true,
      requiredScan: "summary",
      supportsStreaming: true,
    }),
    load: () => import("./writer.js"),
  },
});
