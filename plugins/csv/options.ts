import type { OptionValues } from "../../src/plugin/options.js";
import {
  columnOptions,
  delimiterByte,
  delimiterError,
  headerOption,
  notationOptions,
} from "../shared/table/options.js";

export const readerOptions = {
  delimiter: {
    type: "text",
    default: "auto",
    help: "Delimiter: auto, comma, semicolon, tab, pipe, space, or one character",
  },
  ...notationOptions,
  ...headerOption,
  skipLines: {
    type: "integer",
    min: 0,
    help: "Number of lines to skip before the header row or the first row of data; default: title lines are detected",
  },
  encoding: {
    type: "text",
    default: "auto",
    help: "Encoding: auto (byte order mark, UTF-8, else Windows-1252), or a name: windows-1250, shift_jis …",
  },
  ...columnOptions,
} as const;

export type ReaderOptions = OptionValues<typeof readerOptions>;

export const writerOptions = {
  delimiter: {
    type: "text",
    default: "comma",
    help: "Delimiter: comma, semicolon, tab, pipe, space, or one character; for .tsv and .tab the default is tab, for .psv pipe",
  },
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
  header: { type: "boolean", default: true, help: "Write a header row" },
  bom: { type: "boolean", default: false, help: "Write a byte order mark, for spreadsheets" },
  eol: { type: "choice", choices: ["crlf", "lf"], default: "lf", help: "Line endings; RFC 4180 requires crlf" },
  quote: { type: "choice", choices: ["minimal", "all"], default: "minimal", help: "Cells to quote" },
  escapeFormulas: {
    type: "boolean",
    default: false,
    help: "Put an apostrophe before text that a spreadsheet would run as a formula",
  },
  csvt: { type: "boolean", default: false, help: "Write the column types into a .csvt file" },
} as const;

export type WriterOptions = OptionValues<typeof writerOptions>;

/** The delimiter by file extension. */
const delimiterByExtension: Readonly<Record<string, string>> = { tsv: "tab", tab: "tab", psv: "pipe" };

/** The writer options that the file name implies. */
export function impliedOptions(name: string): { readonly delimiter?: string } {
  const extension = /\.(tsv|tab|psv)$/i.exec(name)?.[1]?.toLowerCase();
  return extension === undefined ? {} : { delimiter: delimiterByExtension[extension]! };
}

/** The byte of a writer's delimiter option. Times are written without quotes. @throws option-invalid */
export function writerDelimiterByte(option: string): number {
  const byte = delimiterByte(option);
  if (byte === colonByte) throw delimiterError(option, "times");
  return byte;
}

const colonByte = 58;
