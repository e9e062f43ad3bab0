import { defineFormat } from "../../src/plugin/format.js";
import { accepts } from "./feature-settings.js";
import { likeness } from "./identify.js";
import { readOptions, sequenceWriteOptions, writeOptions } from "./options.js";

const reader = { options: readOptions, load: () => import("./reader.js") };

/** GeoJSON (RFC 7946, and the older GeoJSON 2008 when reading). */
export const geojson = defineFormat({
  apiVersion: 1,
  id: "geojson",
  label: "GeoJSON",
  extensions: ["geojson", "json"],
  identify: (head, source) => likeness(head, source).geojson,
  reader,
  writer: {
    options: writeOptions,
    accepts: (options) => (options.crs ? { ...accepts, crs: "any" } : accepts),
    load: () => import("./writer.js"),
  },
});

/** One feature a line, or GeoJSON Text Sequences (RFC 8142). */
export const geojsonseq = defineFormat({
  apiVersion: 1,
  id: "geojsonseq",
  label: "GeoJSON Text Sequence / newline-delimited",
  extensions: ["geojsonl", "geojsons", "ndjson", "geojsonl.json"],
  identify: (head, source) => likeness(head, source).geojsonseq,
  reader,
  writer: {
    options: sequenceWriteOptions,
    accepts: () => accepts,
    load: () => import("./sequence-writer.js"),
  },
});

export default [geojson, geojsonseq];
