import type { OptionTable, OptionValues } from "../../src/plugin/options.js";
import { columnOptions, headerOption, notationOptions } from "../shared/table/options.js";

export const readerOptions = {
  text: {
    type: "choice",
    choices: ["keep", "infer"],
    default: "keep",
    help: "Text cells: keep them as text, or infer numbers, dates and booleans in them as in a CSV",
  },
  hidden: { type: "boolean", default: true, help: "Read hidden sheets" },
  ...headerOption,
  skipLines: {
    type: "integer",
    min: 0,
    help: "Number of rows to skip before the header row or the first row of data; default: title rows are detected",
  },
  ...notationOptions,
  ...columnOptions,
} as const satisfies OptionTable;

export type ReaderOptions = OptionValues<typeof readerOptions>;

export const writerOptions = {
  geometry: {
    type: "choice",
    choices: ["auto", "xy", "wkt", "wkb", "geojson", "none"],
    default: "auto",
    help: "Columns for the geometry; auto: lon and lat (x and y when projected) if all are points, else a WKT column",
  },
  precision: {
    type: "integer",
    min: 0,
    max: 15,
    help: "Decimals of coordinates; default: the shortest exact text",
  },
} as const satisfies OptionTable;

export type WriterOptions = OptionValues<typeof writerOptions>;
