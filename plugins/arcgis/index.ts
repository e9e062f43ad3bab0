import { defineFormat } from "../../src/plugin/index.js";
import { identifyEsriJson } from "./identify.js";

const fieldOptions = {
  domains: {
    type: "choice",
    choices: ["codes", "names"],
    default: "codes",
    help: "Values of fields with coded values: the codes, as stored, or the names that they stand for",
  },
  fieldNames: {
    type: "choice",
    choices: ["names", "aliases"],
    default: "names",
    help: "Names of the fields: as in the database, or the aliases that people see",
  },
} as const;

export const fileOptions = fieldOptions;

/** Esri JSON: the feature sets of the ArcGIS REST API. */
export const esrijson = defineFormat({
  apiVersion: 1,
  id: "esrijson",
  label: "Esri JSON",
  extensions: ["esrijson", "json"],
  identify: identifyEsriJson,
  reader: { options: fileOptions, load: () => import("./file-reader.js") },
});

export default [esrijson];
