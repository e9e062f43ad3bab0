import { allGeometryTypes, fieldTypes } from "../../src/model/index.js";
import { type Confidence, defineFormat } from "../../src/plugin/index.js";
import { maxFields } from "./limits.js";
import { toTableName } from "./schema/table-name.js";
import { headerBytes, isGeoPackageId, isSqlite } from "./sqlite/header.js";

export const readOptions = {
  viewTimeout: {
    type: "integer",
    default: 60,
    min: 1,
    help: "Timeout for the next rows of a view, in seconds",
  },
  viewMemory: {
    type: "integer",
    default: 2048,
    min: 256,
    help: "Memory limit of SQLite for a view, in mebibytes",
  },
  viewRows: {
    type: "integer",
    default: 10_000_000,
    min: 1,
    help: "Maximum number of rows of a view",
  },
} as const;

export const writeOptions = {
  version: { type: "choice", choices: ["1.4", "1.2"], default: "1.4", help: "Version of the standard" },
  fid: {
    type: "text",
    help: "Name of the column with the feature ids, unless a field has it; else as in the input, or fid",
  },
  geometry: {
    type: "text",
    help: "Name of the column with the geometry, unless a field has it; else as in the input, or geom",
  },
  index: { type: "boolean", default: true, help: "Create a spatial index (R-tree) for every layer with geometry" },
} as const;

const hasExtension = (name: string): boolean => /\.gpkg$/i.test(name);

/**
 * "yes" for an SQLite database with a GeoPackage application id, or with `gpkg_contents` in the part of its schema that
 * the head contains. Any other SQLite database needs the extension.
 */
function identify(head: Buffer, source: { readonly name: string }): Confidence {
  if (!isSqlite(head)) return hasExtension(source.name) ? "maybe" : "no";
  if (head.length >= headerBytes && isGeoPackageId(head.readUInt32BE(68))) return "yes";
  if (head.includes("gpkg_contents")) return "yes";
  return hasExtension(source.name) ? "maybe" : "no";
}

/** OGC GeoPackage Encoding Standard, 12-128r19 (1.4), and the versions before it. */
export default defineFormat({
  apiVersion: 1,
  id: "geopackage",
  label: "OGC GeoPackage",
  extensions: ["gpkg"],
  companionExtensions: ["gpkg-wal", "gpkg-shm", "gpkg-journal"],
  identify,
  reader: { options: readOptions, load: () => import("./reader.js") },
  writer: {
    options: writeOptions,
    capabilities: () => ({
      crs: "any",
      continuousLongitudes: true,
      layers: "many",
      metadata: ["title", "description", "documents", "columns"],
      normalizeLayerName: toTableName,
      geometryTypes: allGeometryTypes,
      nullGeometry: true,
      z: true,
      m: true,
      maxFields,
      fieldTypes,
      fieldNames: { ignoreCase: true, pattern: /^[^\0]+$/ },
      ids: { types: ["int32", "int64"], fallbackField: "id" },
      requiredScan: "summary",
      supportsStreaming: false,
      updatesInPlace: true,
    }),
    load: () => import("./writer.js"),
  },
});
