import type { OptionTable } from "../../src/plugin/options.js";

export const readOptions = {
  layers: {
    type: "choice",
    choices: ["one", "kinds"],
    default: "one",
    help: "Read everything as one layer, or laps, courses and course points as a layer each",
  },
  shortLines: {
    type: "boolean",
    default: false,
    help: "Keep lines of a single point, which only TCX and GPX allow; by default they become points",
  },
  types: {
    type: "choice",
    choices: ["auto", "text"],
    default: "auto",
    help: "Types of extension elements: auto infers numbers, dates and booleans from all values; text reads them as text",
  },
  tcxType: {
    type: "boolean",
    default: true,
    help: "Add a field _tcxType with the origin of each feature: lap, transition, course or coursePoint",
  },
} as const satisfies OptionTable;
