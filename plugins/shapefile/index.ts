import { type Confidence, defineFormat } from "../../src/plugin/index.js";
import { encodingOfName } from "./dbf/encodings.js";
import { readDbfHeader } from "./dbf/header.js";
import { maxFields } from "./limits.js";
import { isShapeHeader, isTruncatedHeader } from "./shp/header.js";

export const readOptions = {
  encoding: {
    type: "text",
    help: "Encoding of the attributes (utf-8, windows-1252, cp850 …); default: .cpg, the DBF language byte, or detection",
  },
  deleted: { type: "boolean", default: false, help: "Also read records marked as deleted" },
  fid: { type: "text", help: "Name of a field to add with the record number, from 0" },
} as const;

export const writeOptions = {
  encoding: { type: "text", default: "UTF-8", help: "Encoding of the attributes (UTF-8, windows-1252, cp850 …)" },
} as const;

const extensionOf = (name: string) => /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";

/**
 * Identifies a `.shp` by its file code, a `.shx` by the same code (it stands for the `.shp` beside it), and a `.dbf` by
 * its header.
 */
function identify(head: Buffer, source: { readonly name: string; readonly size: number }): Confidence {
  if (isShapeHeader(head)) return "yes";
  const extension = extensionOf(source.name);
  // The reader reports the truncation.
  if (extension === "shp" && isTruncatedHeader(head)) return "yes";
  const header = readDbfHeader(head, source.size);
  if (typeof header === "string") return "no";
  if (extension === "dbf") return "yes";
  return extension === "shp" || extension === "shx" ? "no" : "maybe";
}

const namesIn = (encoding: string): { readonly encoding?: string } => (encoding === "utf-8" ? {} : { encoding });

/** ESRI Shapefile Technical Description, July 1998; attributes in dBASE III+ to 7 and FoxPro tables. */
export default defineFormat({
  apiVersion: 1,
  id: "shapefile",
  label: "ESRI Shapefile",
  extensions: ["shp", "shz", "shp.zip", "dbf"],
  archive: { extensions: ["shz", "shp.zip"] },
  companionExtensions: [
    "shx",
    "dbf",
    "dbt",
    "fpt",
    "prj",
    "qpj",
    "cpg",
    "sbn",
    "sbx",
    "qix",
    "fbn",
    "fbx",
    "ain",
    "aih",
    "atx",
    "ixs",
    "mxs",
    "idm",
    "ind",
    "qmd",
    "cst",
    "shp.xml",
  ],
  lastingCompanionExtensions: ["qpj", "qmd", "shp.xml"],
  identify,
  reader: {
    indistinct: ["empty-text", "trailing-blanks"],
    options: readOptions,
    siblingExtensions: ["shx", "dbf", "dbt", "fpt", "prj", "qpj", "cpg", "shp.xml"],
    load: () => import("./reader.js"),
  },
  writer: {
    options: writeOptions,
    capabilities: ({ encoding }) => ({
      crs: "any",
      continuousLongitudes: true,
      layers: "one",
      geometryTypes: ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon"],
      families: [
        { suffix: "point", types: ["Point"] },
        { suffix: "multipoint", types: ["MultiPoint"] },
        { suffix: "line", types: ["LineString", "MultiLineString"] },
        { suffix: "polygon", types: ["Polygon", "MultiPolygon"] },
      ],
      nullGeometry: true,
      z: true,
      m: true,
      maxFields,
      fieldTypes: ["boolean", "int32", "int64", "double", "text", "date"],
      // Spaces around a name are padding, and a NUL ends it.
      fieldNames: {
        maxBytes: 10,
        ignoreCase: true,
        pattern: /^[^\s\0]([^\0]*[^\s\0])?$/,
        ...namesIn(encodingOfName(encoding) ?? encoding),
      },
      ids: "id",
      requiredScan: "summary",
      supportsStreaming: false,
    }),
    load: () => import("./writer.js"),
  },
});
