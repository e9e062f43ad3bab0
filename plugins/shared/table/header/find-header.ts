/** Finds the header row below titles, comments and group headings, and the row of units below it. */

import { summarizeNames } from "../columns/ambiguity-notices.js";
import { CellTypeFlag } from "../columns/classify-cell.js";
import { cellFlags } from "../columns/column-format.js";
import { parseAngle } from "../geometry/angles.js";
import { findPairsByName } from "../geometry/coordinate-columns.js";
import { NameStrength } from "../geometry/coordinate-names.js";
import { missingWords } from "../geometry/geometry-cell-parser.js";
import { readCellText } from "../records/cell-text.js";
import { CellMark, RecordScanner } from "../records/record-scanner.js";
import { pointByte } from "../records/signs.js";
import { type DelimiterGuess, delimiters } from "./dialect.js";
import type { Notices } from "./first-record.js";
import type { Head } from "./head.js";

/** Limits of the rows examined, and of the rows above the header. */
const maxRows = 60;
const maxRowsAbove = 20;
/** Tables with more columns are not searched for titles. */
const maxColumns = 1000;

interface HeadRow {
  /** Its offset in the head. */
  readonly from: number;
  readonly cells: readonly string[];
  /** Whether a cell is a number, a date or an angle, or is text of that form. */
  readonly typed: readonly boolean[];
  /** Whether any cell is a number, a date or an angle, and not text: such a row is no header. */
  readonly hasValues: boolean;
  readonly filled: number;
}

export interface HeaderLocation {
  readonly delimiter: number;
  /** The offset of the header row, and the last row that is not data. */
  readonly from: number;
  readonly last: number;
  readonly notices: Notices;
}

const unitWords = new Set(
  (
    "m km cm mm ft in ha m² m2 m³ m3 km² km2 ° deg degree degrees grad gon rad % ‰ °c k kg g t mg mg/l µg/l µg/m³ ug/m3 l l/s " +
    "m³/s m3/s m/s km/h kw kwh mw mwh kv v a h s min d € eur usd einheit einheiten unit units unité unités unidad unidades"
  ).split(" "),
);
const isUnit = (text: string): boolean =>
  unitWords.has(text.toLowerCase()) || /^[[({<][^\])}>]{1,20}[\])}>]$/.test(text) || /^-?$/.test(text);

function parseRows(head: Head, delimiter: number, hasTypedCells: boolean): HeadRow[] {
  const scanner = new RecordScanner(delimiter);
  const rows: HeadRow[] = [];
  for (let at = 0; at < head.bytes.length && rows.length < maxRows; at = scanner.next) {
    if (scanner.scan(head.bytes, at, head.bytes.length, head.whole) !== "record") break;
    if (scanner.cells > maxColumns) return [];
    if (scanner.isBlank(head.bytes)) continue;
    const cells = Array.from({ length: scanner.cells }, (_, c) => readCellText(head.bytes, scanner, c).trim());
    const typed = cells.map((text, c) => {
      const flag =
        text === "" ? CellTypeFlag.text : cellFlags(head.bytes, scanner.starts[c]!, scanner.ends[c]!, pointByte);
      return flag === CellTypeFlag.text ? parseAngle(text, "east") !== null : flag !== CellTypeFlag.blank;
    });
    const hasValues = typed.some((is, c) => is && !(hasTypedCells && scanner.marks[c] !== CellMark.plain));
    rows.push({ from: at, cells, typed, hasValues, filled: cells.filter((text) => text !== "").length });
  }
  return rows;
}

/** The most frequent number of filled cells in a row. */
function modalFilledCells(rows: readonly HeadRow[]): number {
  const counts = new Map<number, number>();
  for (const { filled } of rows) counts.set(filled, (counts.get(filled) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

const isMissingCell = (text: string | undefined) => !text || missingWords.has(text.toLowerCase());

/** The columns that contain almost only numbers, dates or angles. */
function findTypedColumns(rows: readonly HeadRow[], columns: number): number[] {
  return [...new Array(columns).keys()].filter((c) => {
    const filled = rows.filter(({ cells }) => !isMissingCell(cells[c]));
    const typed = filled.filter((row) => row.typed[c]).length;
    return typed > 0 && typed >= 0.9 * filled.length;
  });
}

const areUnits = (rows: readonly HeadRow[], row: number): boolean => {
  const { cells, filled } = rows[row]!;
  const below = rows.slice(row + 1);
  if (filled === 0 || below.length === 0 || !cells.every(isUnit)) return false;
  return findTypedColumns(below, cells.length).some((c) => !isMissingCell(cells[c]));
};

/**
 * Whether a row is certainly the header. All of its cells are distinct words, it has as many cells as most rows below
 * it, and every column of numbers has a name. Rows above it have at most half as many cells, or are comments; a row
 * with more cells is a group heading if at least two columns of numbers have their names below it.
 */
function isHeaderAt(rows: readonly HeadRow[], at: number): boolean {
  const { cells, filled, hasValues } = rows[at]!;
  const below = rows.slice(areUnits(rows, at + 1) ? at + 2 : at + 1);
  const most = modalFilledCells(below);
  if (most < 2 || filled < most || hasValues) return false;
  const names = cells.filter((text) => text !== "");
  if (new Set(names).size < names.length || cells.every(isUnit)) return false;
  const columns = findTypedColumns(below, cells.length);
  if (columns.length === 0 || columns.some((c) => isMissingCell(cells[c]))) return false;
  return rows.slice(0, at).every((row) => {
    if (row.cells[0]!.startsWith("#") || 2 * row.filled <= most) return true;
    return row.filled < most && columns.length > 1 && !row.hasValues;
  });
}

const firstCells = ({ cells }: HeadRow) =>
  summarizeNames(cells.filter((text) => text !== "").map((text) => text.slice(0, 40)));

/** Lines of the file before an offset in the head. */
const linesBefore = (head: Head, offset: number): number =>
  head.lines + head.bytes.toString("latin1", 0, offset).split(/\r\n|\n|\r/).length - 1;

/** The row at an offset in the head, as its file counts: rows of a sheet, or lines. */
const describePlace = (head: Head, offset: number): string =>
  `${head.encoding.isSpooled ? "row" : "line"} ${linesBefore(head, offset) + 1}`;

function searchHeader(head: Head, delimiter: number, isOther: boolean, hasTypedCells: boolean): HeaderLocation | null {
  const rows = parseRows(head, delimiter, hasTypedCells);
  const isFirst = rows.length > 2 && !rows[0]!.hasValues && areUnits(rows, 1) && isHeaderAt(rows, 0);
  let at = isFirst ? 0 : 1;
  const last = Math.min(maxRowsAbove, rows.length - 2);
  while (!isFirst && at <= last && !isHeaderAt(rows, at)) at++;
  if (at > last && !isFirst) return null;
  const below = rows.slice(at + 1);
  const alike = below.filter(({ cells }) => cells.length === rows[at]!.cells.length).length;
  if (isOther && alike < 0.9 * below.length) return null;
  const notices: Notices = [];
  const say = (what: string) => notices.push(["rows-left-out", undefined, what]);
  if (at > 0) {
    const rest = at > 1 ? ` and ${at - 1} more above it` : " above it";
    say(
      `${describePlace(head, rows[at]!.from)}, ${firstCells(rows[at]!)}, was taken for the names of the columns; ${firstCells(rows[0]!)}${rest} was left out; --in skip-lines=0 reads from the first row`,
    );
  }
  const hasUnits = areUnits(rows, at + 1);
  if (hasUnits)
    say(
      `the row below the names, ${firstCells(rows[at + 1]!)}, was taken for units; --in header=yes takes it for data`,
    );
  return { delimiter, from: rows[at]!.from, last: rows[hasUnits ? at + 1 : at]!.from, notices };
}

/** The header below the first row, or above units; null if the first row is as likely. */
export function findHeader(
  head: Head,
  guess: DelimiterGuess,
  isGiven: boolean,
  hasTypedCells: boolean,
): HeaderLocation | null {
  const found = searchHeader(head, guess.delimiter, false, hasTypedCells);
  if (found || isGiven || (guess.columns > 1 && guess.share >= 0.5)) return found;
  for (const delimiter of delimiters) {
    const other = delimiter === guess.delimiter ? null : searchHeader(head, delimiter, true, hasTypedCells);
    if (other) return other;
  }
  return null;
}

/** Reports a row that has names of coordinates but was taken for data. */
export function detectIgnoredHeader(
  head: Head,
  delimiter: number,
  isHeader: boolean,
  hasTypedCells: boolean,
): Notices[number] | null {
  const others = head.encoding.isSpooled ? [] : delimiters.filter((other) => other !== delimiter);
  for (const one of [delimiter, ...others]) {
    for (const [at, { from, cells }] of parseRows(head, one, hasTypedCells).slice(0, maxRowsAbove).entries()) {
      const isRead = one === delimiter && at === 0 && isHeader;
      const [pair] = isRead ? [] : findPairsByName(cells);
      if (!pair || pair.strength <= NameStrength.weak) continue;
      const names = `"${cells[pair.x]}" and "${cells[pair.y]}"`;
      const option = one === delimiter ? "" : ` --in "delimiter=${String.fromCharCode(one)}"`.replace("\t", "tab");
      const remedy = `--in skip-lines=${linesBefore(head, from) - head.ownLines} --in header=yes${option}`;
      return [
        "coordinates-left-out",
        undefined,
        `${describePlace(head, from)} has names of coordinates, ${names}, but was not taken for the header; ${remedy} reads it so`,
      ];
    }
  }
  return null;
}
