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
    help: "Keep lines of one point, which only GPX has, as they are; else one becomes a point",
  },
  routeShape: {
    type: "boolean",
    default: false,
    help: "Put the positions that Garmin's devices give a route between its points (gpxx:rpt) into its line",
  },
  gpxType: { type: "boolean", default: true, help: "Tell in a field _gpxType what each feature was: wpt, rte or trk" },
} as const satisfies OptionTable;

export const writeOptions = {
  lines: {
    type: "choice",
    choices: ["track", "route"],
    default: "track",
    help: "What a line becomes whose field _gpxType says neither trk nor rte",
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
    help: "Reject polygons, which GPX does not have, or write their rings as the segments of a track",
  },
  precision: { type: "integer", default: 9, min: 0, max: 20, help: "Decimals of longitude and latitude" },
  zPrecision: { type: "integer", default: 3, min: 0, max: 20, help: "Decimals of heights" },
  extensions: {
    type: "boolean",
    default: true,
    help: "Write the fields that GPX has no element for into extensions; no leaves them out",
  },
} as const satisfies OptionTable;
