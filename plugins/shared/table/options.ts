/** Options of the readers of tables: CSV and spreadsheets. */
import { createError } from "../../../src/errors.js";
import type { Crs } from "../../../src/model/layer.js";
import type { OptionValues } from "../../../src/plugin/options.js";

/** How numbers and dates in text are written. */
export const notationOptions = {
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
} as const;

export const headerOption = {
  header: {
    type: "choice",
    choices: ["auto", "yes", "no"],
    default: "auto",
    help: "Read the first row as a header; auto: unless it is all numbers or dates, or has a decimal, an ISO date or WKT",
  },
} as const;

/** How columns become fields and geometries. */
export const columnOptions = {
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

type NotationOptions = OptionValues<typeof notationOptions>;
type HeaderOption = OptionValues<typeof headerOption>;
type ColumnOptions = OptionValues<typeof columnOptions>;

/** What the shared code needs to know; a reader without one of the other options sets its value. */
export interface TableOptions extends NotationOptions, HeaderOption, ColumnOptions {
  /**
   * What the source is: a file of text; or records that a reader of spreadsheets wrote, in which quotes mark text cells
   * (`typed`) or do not (`spooled`).
   */
  readonly cells: "text" | "spooled" | "typed";
  /** Of spooled records: whether a column has a value in any row. The others are no fields. */
  readonly usedColumns?: readonly boolean[];
  /** The reference system that the file declares, in place of a `.prj`. */
  readonly declaredCrs?: Crs | null;
  readonly delimiter: string;
  readonly encoding: string;
  /** Lines, or rows, to leave out before the header. */
  readonly skipLines: number | undefined;
}

const delimiterNames: Readonly<Record<string, string>> = {
  comma: ",",
  semicolon: ";",
  tab: "\t",
  "\\t": "\t",
  pipe: "|",
  space: " ",
};

/** Characters that occur in numbers, dates, WKT and quotes cannot be delimiters. */
const notDelimiters = /^[\w"+.()-]$/;

/** The byte of a reader's delimiter option. @throws option-invalid */
export function delimiterByte(option: string): number {
  const text = delimiterNames[option.toLowerCase()] ?? option;
  if (/^[\t -~]$/.test(text) && !notDelimiters.test(text)) return text.charCodeAt(0);
  throw delimiterError(option, "numbers, dates or WKT");
}

export const delimiterError = (value: string, values: string): Error =>
  createError("option-invalid", {
    option: "delimiter",
    value,
    expected: `comma, semicolon, tab, pipe, space or another ASCII character that is not in ${values}`,
  });
