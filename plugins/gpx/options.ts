import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  layers: {
    type: "choice",
    choices: ["one", "kinds"],
    default: "one",
    help: "Read everything as one layer, or waypoints, routes and tracks as a layer each",
  },
  shortLines: {
    type: "boolean",
    default: false,
    help: "Keep lines of a single point, which only GPX allows; by default they become points",
  },
  routeShape: {
    type: "boolean",
    default: false,
    help: "Include the shape points of Garmin routes (gpxx:rpt) in the line",
  },
  types: {
    type: "choice",
    choices: ["auto", "text"],
    default: "auto",
    help: "Types of extension elements: auto infers numbers, dates and booleans from all values; text reads them as text",
  },
  gpxType: {
    type: "boolean",
    default: true,
    help: "Add a field _gpxType with the element of each feature: wpt, rte or trk",
  },
} as const satisfies OptionTable;

export const writeOptions = {
  lines: {
    type: "choice",
    choices: ["track", "route"],
    default: "track",
    help: "Element to write lines as, unless the field _gpxType is trk or rte",
  },
  multipoints: {
    type: "choice",
    choices: ["waypoints", "reject"],
    default: "waypoints",
    help: "Write a waypoint for each position of a MultiPoint, or reject it",
  },
  polygons: {
    type: "choice",
    choices: ["reject", "tracks"],
    default: "reject",
    help: "Reject polygons, which GPX lacks, or write their rings as track segments",
  },
  precision: { type: "integer", default: 9, min: 0, max: 20, help: "Decimals of longitude and latitude" },
  zPrecision: { type: "integer", default: 3, min: 0, max: 20, help: "Decimals of heights" },
  extensions: {
    type: "boolean",
    default: true,
    help: "Write fields without a GPX element into extensions; no leaves them out",
  },
} as const satisfies OptionTable;
