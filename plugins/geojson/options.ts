import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  fid: { type: "text", help: "Name of a field that also holds the feature ids" },
} as const satisfies OptionTable;

const featureOptions = {
  precision: { type: "integer", default: 7, min: 0, max: 20, help: "Decimals of longitude and latitude" },
  zPrecision: { type: "integer", default: 3, min: 0, max: 20, help: "Decimals of heights" },
  rfc7946: {
    type: "boolean",
    default: true,
    help: "Write exterior rings counter-clockwise and holes clockwise; no keeps the order of positions",
  },
  antimeridian: {
    type: "choice",
    choices: ["keep", "cut"],
    default: "keep",
    help: "Keep lines and polygons that cross the antimeridian, or cut them in two there (RFC 7946, section 3.1.9)",
  },
  ids: { type: "boolean", default: true, help: "Write the feature ids" },
  idField: { type: "text", help: "Field to use as feature id" },
} as const satisfies OptionTable;

export const writeOptions = {
  ...featureOptions,
  bbox: {
    type: "choice",
    choices: ["no", "file", "features", "both"],
    default: "no",
    help: "Write the bounding box of the file, of each feature, or both",
  },
  crs: {
    type: "boolean",
    default: false,
    help: "Allow any coordinate reference system and write its name, as in GeoJSON 2008 (not RFC 7946)",
  },
} as const satisfies OptionTable;

export const sequenceWriteOptions = {
  ...featureOptions,
  bbox: { type: "choice", choices: ["no", "features"], default: "no", help: "Write the bounding box of each feature" },
  rs: { type: "boolean", default: false, help: "Begin each feature with a record separator (RFC 8142)" },
} as const satisfies OptionTable;
