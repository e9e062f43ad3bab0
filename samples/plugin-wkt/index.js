import { allGeometryTypes, defineFormat } from "geoferry/plugin";

const wktLine =
  /^(SRID=\d+;)?\s*(MULTI)?(POINT|LINESTRING|POLYGON)\s*(ZM?|M)?\s*(\(|EMPTY)|^(SRID=\d+;)?\s*GEOMETRYCOLLECTION/i;

export default defineFormat({
  apiVersion: 1,
  id: "wkt",
  label: "Well-known text, one geometry a line",
  extensions: ["wkt", "ewkt"],
  identify(head) {
    const lines = head.toString("latin1").split(/\r?\n/);
    const first = lines.find((line) => line.trim() !== "" && !line.startsWith("#"));
    return first !== undefined && wktLine.test(first) ? "yes" : "no";
  },
  reader: {
    options: { comment: { type: "text", default: "#", help: "Prefix of lines that are not geometries" } },
    load: () => import("./reader.js"),
  },
  writer: {
    options: { srid: { type: "boolean", default: true, help: "Begin each line with the EPSG code: SRID=4326;" } },
    capabilities: () => ({
      crs: "any",
      layers: "one",
      geometryTypes: allGeometryTypes,
      nullGeometry: false,
      z: true,
      m: false,
      fieldTypes: ["text"],
      ids: "fid",
      requiredScan: "nothing",
      supportsStreaming: true,
    }),
    load: () => import("./writer.js"),
  },
});
