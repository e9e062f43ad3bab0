import { allGeometryTypes, fieldTypes } from "../../src/model/index.js";
import { type Confidence, defineFormat } from "../../src/plugin/index.js";
import { maxColumns } from "./limits.js";

export const readOptions = {
  unsigned: {
    type: "choice",
    choices: ["int64", "text"],
    default: "int64",
    help: "Type of columns of unsigned 64-bit numbers: an int64, which the largest of them exceed, or text",
  },
} as const;

export const writeOptions = {
  index: {
    type: "boolean",
    default: true,
    help: "Sort the features and create a spatial index (packed Hilbert R-tree); no keeps their order",
  },
} as const;

/** The bytes at the start of every version: `fgb`, the major version, `fgb`. The last byte is a patch level. */
const isMagic = (head: Buffer): boolean =>
  head.length >= 8 && head.toString("latin1", 0, 3) === "fgb" && head.toString("latin1", 4, 7) === "fgb";

function identify(head: Buffer): Confidence {
  return isMagic(head) ? "yes" : "no";
}

/** FlatGeobuf, major version 3 (flatgeobuf.org). */
export default defineFormat({
  apiVersion: 1,
  id: "flatgeobuf",
  label: "FlatGeobuf",
  extensions: ["fgb"],
  identify,
  reader: { options: readOptions, siblingExtensions: [], readsParts: true, load: () => import("./reader.js") },
  writer: {
    options: writeOptions,
    capabilities: ({ index }) => ({
      crs: "any",
      continuousLongitudes: true,
      layers: "one",
      metadata: ["title", "description", "columns"],
      geometryTypes: allGeometryTypes,
      nullGeometry: true,
      z: true,
      m: true,
      maxFields: maxColumns,
      fieldTypes,
      fieldNames: { pattern: /^[^\0]+$/ },
      ids: "id",
      requiredScan: "summary",
      supportsStreaming: !index,
    }),
    load: () => import("./writer.js"),
  },
});
