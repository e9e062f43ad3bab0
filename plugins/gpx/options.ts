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
  gpxType: { type: "boolean", default: true, help: "Tell in a field _gpxType what each feature was: wpt, rte or trk" },
} as const satisfies OptionTable;
