import { defineFormat } from "../../src/plugin/index.js";
import { identifyGml } from "./identify.js";

export const gmlOptions = {
  types: {
    type: "choice",
    choices: ["auto", "text"],
    default: "auto",
    help: "Types of fields: auto takes them from a schema beside the file, or infers them from all values; text reads them as text",
  },
  geometry: { type: "text", help: "Name of the property that is the geometry; default: the first" },
  axisOrder: {
    type: "choice",
    choices: ["auto", "xy", "yx"],
    default: "auto",
    help: "Order of coordinates: auto as the name of the reference system says; xy with longitude or easting first, yx with latitude or northing first",
  },
  fid: { type: "text", help: "Name of a field that also holds the feature ids" },
} as const;

/** Geography Markup Language 2.1 to 3.3, as far as Simple Features go (OGC 10-100r3). */
export const gml = defineFormat({
  apiVersion: 1,
  id: "gml",
  label: "Geography Markup Language (GML)",
  extensions: ["gml"],
  companionExtensions: ["xsd", "gfs"],
  identify: identifyGml,
  reader: {
    options: gmlOptions,
    indistinct: ["field-types"],
    siblingExtensions: ["xsd"],
    load: () => import("./gml-reader.js"),
  },
});

export default [gml];
