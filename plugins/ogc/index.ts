import { defineFormat } from "../../src/plugin/index.js";
import { parallelOption } from "../shared/parallel-option.js";
import { identifyGml } from "./identify.js";
import { isFeaturesAddress, isWfsAddress, redactAddress, serviceStem } from "./service/address.js";

export const gmlOptions = {
  types: {
    type: "choice",
    choices: ["auto", "text"],
    default: "auto",
    help: "Types of fields: auto takes them from the schema, or infers them from all values; text reads all as text",
  },
  geometry: { type: "text", help: "Name of the property that is the geometry; default: the first" },
  axisOrder: {
    type: "choice",
    choices: ["auto", "xy", "yx"],
    default: "auto",
    help: "Order of coordinates: auto follows the name of the reference system; xy with longitude or easting first, yx with latitude or northing first",
  },
  fid: { type: "text", help: "Name of a field that also holds the feature ids" },
} as const;

const serviceOptions = {
  pageSize: {
    type: "integer",
    min: 1,
    max: 100_000,
    default: 1000,
    help: "Features to request at once; the service may send fewer",
  },
  singleRead: {
    type: "boolean",
    default: false,
    help: "Read the pages only once: twice as fast, but edits during the read can go unnoticed",
  },
  parallel: parallelOption,
  resume: {
    type: "text",
    help: "Folder to keep the pages of an interrupted first reading in, so that the same command continues it",
  },
  rate: { type: "number", min: 0.01, help: "Maximum requests per second; default: no limit" },
} as const;

export const wfsOptions = {
  version: {
    type: "choice",
    choices: ["auto", "2.0.0", "1.1.0"],
    default: "auto",
    help: "Version of the protocol; default: the one in the address, else the newest that the service offers",
  },
  types: gmlOptions.types,
  geometry: gmlOptions.geometry,
  axisOrder: gmlOptions.axisOrder,
  format: {
    type: "choice",
    choices: ["gml", "json"],
    default: "gml",
    help: "Format of the responses; json is used only if the service offers it, and ten features are the same in both formats",
  },
  ...serviceOptions,
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

/** Web Feature Service 1.1.0 and 2.0.0 (OGC 04-094, OGC 09-025r2). */
export const wfs = defineFormat({
  apiVersion: 1,
  id: "wfs",
  label: "Web Feature Service (WFS)",
  extensions: [],
  addresses: {
    syntax: "wfs:URL or https://…?service=WFS",
    match: isWfsAddress,
    fileStem: (text) => serviceStem(text, "wfs"),
    redact: redactAddress,
  },
  identify: () => "no",
  reader: { options: wfsOptions, indistinct: ["field-types"], load: () => import("./wfs-reader.js") },
});

export const featuresOptions = serviceOptions;

/** OGC API – Features, parts 1 to 3 (OGC 17-069r4, 18-058r1, 19-079r2). */
export const oapif = defineFormat({
  apiVersion: 1,
  id: "oapif",
  label: "OGC API Features",
  extensions: [],
  addresses: {
    syntax: "oapif:URL, https://…/collections, https://…/collections/ID or https://…/collections/ID/items",
    match: isFeaturesAddress,
    fileStem: (text) => serviceStem(text, "oapif"),
    redact: redactAddress,
  },
  identify: () => "no",
  reader: { options: featuresOptions, indistinct: ["field-types"], load: () => import("./features-reader.js") },
});

export default [gml, wfs, oapif];
