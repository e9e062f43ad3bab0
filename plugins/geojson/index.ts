import { defineFormat } from "../../src/plugin/format.js";
import { rateGeoJson } from "./identify.js";
import { readOptions, sequenceWriteOptions, writeOptions } from "./options.js";
import { writerCapabilities } from "./write/feature-settings.js";

const reader = { options: readOptions, indistinct: ["field-types"] as const, load: () => import("./reader.js") };

/** GeoJSON (RFC 7946, and the older GeoJSON 2008 when reading). */
export const geojson = defineFormat({
  apiVersion: 1,
  id: "geojson",
  label: "GeoJSON",
  extensions: ["geojson", "json"],
  identify: (head, source) => rateGeoJson(head, source).geojson,
  reader,
  writer: {
    options: writeOptions,
    capabilities: (options) => (options.crs ? { ...writerCapabilities, crs: "any" } : writerCapabilities),
    load: () => import("./write/writer.js"),
  },
});

/** One feature a line, or GeoJSON Text Sequences (RFC 8142). */
export const geojsonseq = defineFormat({
  apiVersion: 1,
  id: "geojsonseq",
  label: "GeoJSON Text Sequence / newline-delimited",
  extensions: ["geojsonl", "geojsons", "ndjson", "geojsonl.json"],
  identify: (head, source) => rateGeoJson(head, source).geojsonseq,
  reader,
  writer: {
    options: sequenceWriteOptions,
    capabilities: () => writerCapabilities,
    load: () => import("./write/sequence-writer.js"),
  },
});

export default [geojson, geojsonseq];
