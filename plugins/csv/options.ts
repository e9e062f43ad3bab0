import { createError } from "../../src/errors.js";
import type { OptionValues } from "../../src/plugin/options.js";

export const readerOptions = {
  delimiter: {
    type: "text",
    default: "auto",
    help: "Delimiter: auto, comma, semicolon, tab, pipe, space, or one character",
  },
  decimal: { type: "choice", choices: ["auto", ".", ","], default: "auto", help: "Decimal separator" },
  thousands: {
    type: "choice",
    choices: ["auto", "none", ".", ",", "space", "apostrophe"],
    default: "auto",
    help: "Thousands separator; auto infers it by column if unambiguous",
  },
  dates: {
    type: "choice",
    choices: ["auto", "dmy", "mdy"],
    default: "auto",
    help: "Date order of 01/02/1999; auto infers it from all dates of the column, which stays text if ambiguous",
  },
  header: {
    type: "choice",
    choices: ["auto", "yes", "no"],
    default: "auto",
    help: "Read the first row as a header; auto: unless it is all numbers or dates, or has a decimal, an ISO date or WKT",
  },
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
  types: {
    type: "choice",
    choices: ["auto", "text"],
    default: "auto",
    help: "Types of fields: auto infers numbers, dates and booleans from all rows; text reads everything as text",
  },
  sample: {
    type: "integer",
    min: 1,
    help: "Number of rows to infer types from instead of all; later values that do not fit are lost and reported",
  },
  x: { type: "text", help: "Column of the longitude or easting; with y" },
  y: { type: "text", help: "Column of the latitude or northing; with x" },
  z: { type: "text", help: "Column of the height" },
  geometry: {
    type: "text",
    help: 'Column of WKT, hexadecimal WKB, GeoJSON or "lat, lon"; none reads no geometry',
  },
  letterO: {
    type: "choice",
    choices: ["auto", "east", "west"],
    default: "auto",
    help: "Meaning of O in degrees such as 9° O; auto infers it from other letters of the column and the language of the header",
  },
  srid: {
    type: "integer",
    min: 1,
    help: "EPSG code of geometries without an SRID; without it they are rejected if others have one",
  },
  keepGeometryColumns: {
    type: "boolean",
    default: false,
    help: "Keep the columns of the geometry as attributes",
  },
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

const delimiterNames: Readonly<Record<string, string>> = {
  comma: ",",
  semicolon: ";",
  tab: "\t",
  "\\t": "\t",
  pipe: "|",
  space: " ",
};

/** The delimiter by file extension. */
const delimiterByExtension: Readonly<Record<string, string>> = { tsv: "tab", tab: "tab", psv: "pipe" };

/** The writer options that the file name implies. */
export function impliedOptions(name: string): { readonly delimiter?: string } {
  const extension = /\.(tsv|tab|psv)$/i.exec(name)?.[1]?.toLowerCase();
  return extension === undefined ? {} : { delimiter: delimiterByExtension[extension]! };
}

/** Characters that occur in numbers, dates, WKT and quotes cannot be delimiters. */
const notDelimiters = /^[\w"+.()-]$/;

/** The byte of a reader's delimiter option. @throws option-invalid */
export function delimiterByte(option: string): number {
  const text = delimiterNames[option.toLowerCase()] ?? option;
  if (/^[\t -~]$/.test(text) && !notDelimiters.test(text)) return text.charCodeAt(0);
  throw delimiterError(option, "numbers, dates or WKT");
}

/** The byte of a writer's delimiter option. Times are written without quotes. @throws option-invalid */
export function writerDelimiterByte(option: string): number {
  const byte = delimiterByte(option);
  if (byte === colonByte) throw delimiterError(option, "times");
  return byte;
}

const colonByte = 58;

const delimiterError = (value: string, values: string): Error =>
  createError("option-invalid", {
    option: "delimiter",
    value,
    expected: `comma, semicolon, tab, pipe, space or another ASCII character that is not in ${values}`,
  });
