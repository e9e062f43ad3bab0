import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  layers: {
    type: "choice",
    choices: ["one", "kinds"],
    default: "one",
    help: "Read everything as one layer, or waypoints, routes and tracks as a layer each",
  },
  gpxType: { type: "boolean", default: true, help: "Tell in a field _gpxType what each feature was: wpt, rte or trk" },
} as const satisfies OptionTable;
