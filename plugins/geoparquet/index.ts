import { allGeometryTypes, fieldTypes } from "../../src/model/index.js";
import { type Confidence, defineFormat } from "../../src/plugin/index.js";

export const readOptions = {
  geometry: {
    type: "text",
    help: "Name of the column with the geometry, if there are several; by default the primary one",
  },
} as const;

export const writeOptions = {
  compression: {
    type: "choice",
    choices: ["zstd", "snappy", "gzip", "brotli", "none"],
    help: "Compression; by default zstd, or snappy with a Node.js before 22.15, which has no zstd",
  },
  geometryType: {
    type: "choice",
    choices: ["wkb", "parquet"],
    default: "wkb",
    help: "Type of the geometry column: binary, as GeoParquet 1.1 has it, or also Parquet's logical type GEOMETRY, which newer readers know",
  },
  geometry: {
    type: "text",
    help: "Name of the geometry column, unless a field has it; else as in the input, or geometry",
  },
  bbox: {
    type: "boolean",
    default: true,
    help: "Add a column with the bounding box of each feature, with which readers skip what is far away",
  },
  rowGroup: {
    type: "integer",
    default: 100_000,
    min: 1,
    max: 10_000_000,
    help: "Rows of a row group, the part that readers read or skip as a whole",
  },
} as const;

const magic = "PAR1";
/** An encrypted footer. */
const encryptedMagic = "PARE";

function identify(head: Buffer): Confidence {
  const start = head.toString("latin1", 0, 4);
  return start === magic || start === encryptedMagic ? "yes" : "no";
}

/** GeoParquet 1.0 and 1.1, and Parquet with its logical types GEOMETRY and GEOGRAPHY. */
export default defineFormat({
  apiVersion: 1,
  id: "geoparquet",
  label: "GeoParquet",
  extensions: ["parquet", "geoparquet"],
  identify,
  reader: { options: readOptions, siblingExtensions: [], readsParts: true, load: () => import("./reader.js") },
  writer: {
    options: writeOptions,
    capabilities: ({ geometryType }) => ({
      crs: "any",
      continuousLongitudes: true,
      layers: "one",
      geometryTypes: allGeometryTypes,
      nullGeometry: true,
      z: true,
      // GeoParquet 1.1 has no measures, the logical type has.
      m: geometryType === "parquet",
      fieldTypes,
      fieldNames: { pattern: /^[^\0]+$/ },
      storesEveryCell: true,
      ids: "fid",
      requiredScan: "summary",
      supportsStreaming: true,
    }),
    load: () => import("./writer.js"),
  },
});
