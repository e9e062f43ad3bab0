import { createError } from "../../src/errors.js";
import type { OptionValues } from "../../src/plugin/options.js";

export const readerOptions = {
  delimiter: { type: "text", default: "auto", help: "auto, comma, semicolon, tab, pipe, space, or one character" },
  decimal: { type: "choice", choices: ["auto", ".", ","], default: "auto", help: "the decimal sign of numbers" },
  thousands: {
    type: "choice",
    choices: ["auto", "none", ".", ",", "space", "apostrophe"],
    default: "auto",
    help: "the sign between thousands; auto: by each column, where its numbers leave no doubt",
  },
  dates: {
    type: "choice",
    choices: ["auto", "dmy", "mdy"],
    default: "auto",
    help: "the order of 01/02/1999; auto: by all dates of the column, which is text where they leave it open",
  },
  header: {
    type: "choice",
    choices: ["auto", "yes", "no"],
    default: "auto",
    help: "whether the first row names the columns; auto: unless it is all numbers or dates, or has a decimal, an ISO date or WKT",
  },
  skipLines: {
    type: "integer",
    min: 0,
    help: "lines before the row of names, or before the first row of data; without it, titles are found where they are certain",
  },
  encoding: {
    type: "text",
    default: "auto",
    help: "auto (byte order mark, UTF-8, else Windows-1252), or a name: windows-1250, shift_jis …",
  },
  types: {
    type: "choice",
    choices: ["auto", "text"],
    default: "auto",
    help: "auto: numbers, dates, true/false by all rows; text: everything is text",
  },
  sample: {
    type: "integer",
    min: 1,
    help: "decide types by so many rows instead of all; a later value that does not fit is lost, and reported",
  },
  x: { type: "text", help: "the column of the longitude or easting; with y" },
  y: { type: "text", help: "the column of the latitude or northing; with x" },
  z: { type: "text", help: "the column of the height" },
  geometry: {
    type: "text",
    help: 'the column of WKT, hexadecimal WKB, GeoJSON or "lat, lon"; none: read no geometry',
  },
  letterO: {
    type: "choice",
    choices: ["auto", "east", "west"],
    default: "auto",
    help: "what O means in degrees such as 9° O; auto: by other letters of the column and the language of the names",
  },
  srid: {
    type: "integer",
    min: 1,
    help: "the EPSG code of geometries that name no SRID; without it they are rejected where others name one",
  },
  keepGeometryColumns: {
    type: "boolean",
    default: false,
    help: "keep the columns that the geometry comes from as attributes",
  },
} as const;

export type ReaderOptions = OptionValues<typeof readerOptions>;

export const writerOptions = {
  delimiter: {
    type: "text",
    default: "comma",
    help: "comma, semicolon, tab, pipe, space, or one character; of .tsv and .tab it is tab, of .psv pipe",
  },
  geometry: {
    type: "choice",
    choices: ["auto", "xy", "wkt", "wkb", "geojson", "none"],
    default: "auto",
    help: "auto: columns lon and lat (x and y when projected) where all are points, else one of WKT",
  },
  precision: {
    type: "integer",
    min: 0,
    max: 15,
    help: "decimals of coordinates; without it, the shortest text that is exact",
  },
  header: { type: "boolean", default: true, help: "write the names of the columns" },
  bom: { type: "boolean", default: false, help: "begin with a byte order mark, for spreadsheets" },
  eol: { type: "choice", choices: ["crlf", "lf"], default: "lf", help: "line ends; RFC 4180 has crlf" },
  quote: { type: "choice", choices: ["minimal", "all"], default: "minimal", help: "which cells are quoted" },
  escapeFormulas: {
    type: "boolean",
    default: false,
    help: "put an apostrophe before text that a spreadsheet would run as a formula",
  },
  csvt: { type: "boolean", default: false, help: "write the types of the columns into a .csvt file" },
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

/** What stands between cells, by the extensions of files. */
const delimiterByExtension: Readonly<Record<string, string>> = { tsv: "tab", tab: "tab", psv: "pipe" };

/** The options of the writer that the name of its file implies. */
export function impliedOptions(name: string): { readonly delimiter?: string } {
  const extension = /\.(tsv|tab|psv)$/i.exec(name)?.[1]?.toLowerCase();
  return extension === undefined ? {} : { delimiter: delimiterByExtension[extension]! };
}

/** The byte of a delimiter option. @throws option-invalid */
export function delimiterByte(option: string): number {
  const text = delimiterNames[option.toLowerCase()] ?? option;
  // What numbers, dates, WKT and quotes are made of cannot stand between them.
  if (!/^[\t -~]$/.test(text) || /^[\w"+.:()-]$/.test(text)) {
    throw createError("option-invalid", {
      option: "delimiter",
      value: option,
      expected: "comma, semicolon, tab, pipe, space or one sign of ASCII",
    });
  }
  return text.charCodeAt(0);
}
