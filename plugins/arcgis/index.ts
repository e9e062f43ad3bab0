import { defineFormat } from "../../src/plugin/index.js";
import { parallelOption } from "../shared/parallel-option.js";
import { identifyEsriJson } from "./identify.js";
import { isServiceAddress, redactAddress, serviceStem } from "./service/address.js";

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

export const serviceOptions = {
  ...fieldOptions,
  attachments: {
    type: "text",
    help: "Folder to download the attachments of the features to; without it, they are counted",
  },
  pageSize: {
    type: "integer",
    min: 1,
    max: 100_000,
    help: "Features to request at once; default and maximum: what the service allows",
  },
  parallel: parallelOption,
  resume: {
    type: "text",
    help: "Folder to keep an interrupted download in, so that the same command continues it if nothing was edited since",
  },
  rate: { type: "number", min: 0.01, help: "Maximum requests per second; default: no limit" },
} as const;

/** Layers of ArcGIS feature services and map services. */
export const arcgis = defineFormat({
  apiVersion: 1,
  id: "arcgis",
  label: "ArcGIS feature service",
  extensions: [],
  addresses: {
    syntax: "https://…/FeatureServer, https://…/MapServer or arcgis:URL",
    match: isServiceAddress,
    fileStem: serviceStem,
    redact: redactAddress,
  },
  identify: () => "no",
  reader: { options: serviceOptions, load: () => import("./service-reader.js") },
});

export default [esrijson, arcgis];
