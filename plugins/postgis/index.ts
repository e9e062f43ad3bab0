import { allGeometryTypes, fieldTypes } from "../../src/model/index.js";
import { defineFormat } from "../../src/plugin/index.js";
import { databaseNameOf, isAddress, redactAddress } from "./connection/address.js";
import { maxIdentifierBytes, toTableName } from "./identifiers.js";
import { maxFields } from "./limits.js";

export const readOptions = {
  sql: { type: "text", help: "SELECT statement to read instead of the tables, in a read-only transaction" },
  geometry: { type: "text", help: "Geometry column, if a table has several; the others are read as binary" },
  id: {
    type: "text",
    help: "Column of the feature ids; default: the primary key if it is a single integer column; none for no ids",
  },
  numeric: {
    type: "choice",
    choices: ["auto", "double", "text"],
    default: "auto",
    help: "Type for numeric columns: auto (integer if the scale is 0, else double), double, or text with all digits",
  },
} as const;

export const writeOptions = {
  fid: { type: "text", default: "fid", help: "Name of the column with the feature ids, unless a field has it" },
  geometry: { type: "text", default: "geom", help: "Name of the column with the geometry, unless a field has it" },
  type: {
    type: "choice",
    choices: ["geometry", "geography"],
    default: "geometry",
    help: "Type of the column with the geometry; geography takes longitude and latitude only",
  },
  json: { type: "choice", choices: ["json", "jsonb"], default: "json", help: "Type of columns with nested values" },
  index: { type: "boolean", default: true, help: "Create a spatial index (GiST) for every table with geometry" },
  lockTimeout: {
    type: "integer",
    default: 60,
    min: 0,
    help: "Lock timeout for changed tables, in seconds; 0 waits forever",
  },
} as const;

/** PostgreSQL 12 and later with PostGIS 3. */
export default defineFormat({
  apiVersion: 1,
  id: "postgis",
  label: "PostgreSQL database with PostGIS",
  extensions: [],
  addresses: { syntax: "pg: or postgres://", match: isAddress, fileStem: databaseNameOf, redact: redactAddress },
  identify: () => "no",
  reader: { options: readOptions, load: () => import("./reader.js") },
  writer: {
    options: writeOptions,
    capabilities: () => ({
      crs: "any",
      continuousLongitudes: true,
      layers: "many",
      normalizeLayerName: toTableName,
      geometryTypes: allGeometryTypes,
      nullGeometry: true,
      z: true,
      m: true,
      maxFields,
      fieldTypes,
      fieldNames: {
        maxBytes: maxIdentifierBytes,
        pattern: /^[^\0]+$/,
        // System columns of every table (PostgreSQL, "System Columns").
        reserved: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
      },
      ids: { types: ["int32", "int64"], fallbackField: "id" },
      requiredScan: "summary",
      supportsStreaming: false,
      updatesInPlace: true,
    }),
    load: () => import("./writer.js"),
  },
});
