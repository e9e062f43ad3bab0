/** Finds the row that names the columns below titles, comments and headings of groups, and the row of units below it. */
import { parseAngle } from "./angles.js";
import { cellText } from "./cell-text.js";
import { Sort } from "./classify.js";
import { formOfCell } from "./column-form.js";
import { pairsByName } from "./coordinate-columns.js";
import { Strength } from "./coordinate-names.js";
import { delimiters, type Guess } from "./dialect.js";
import { someNames } from "./doubts.js";
import type { Notices } from "./first-record.js";
import { missingWords } from "./geometry-text.js";
import type { Head } from "./head.js";
import { Scanner } from "./scanner.js";
import { point } from "./signs.js";

/** Rows that are looked at, and how many of them may stand above the header. */
const rowsWanted = 60;
const mostAbove = 20;
/** Tables with more columns have no titles that would be worth the search. */
const mostCells = 1000;

interface Row {
  /** Where it begins in the head. */
  readonly from: number;
  readonly cells: readonly string[];
  /** Whether a cell is a number, a date or an angle. */
  readonly typed: readonly boolean[];
  readonly filled: number;
}

export interface FoundHeader {
  readonly delimiter: number;
  /** Where the row of names begins, and the last row that is no data. */
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

function rowsOf(head: Head, delimiter: number): Row[] {
  const scanner = new Scanner(delimiter);
  const rows: Row[] = [];
  for (let at = 0; at < head.bytes.length && rows.length < rowsWanted; at = scanner.next) {
    if (scanner.scan(head.bytes, at, head.bytes.length, head.whole) !== "record") break;
    if (scanner.cells > mostCells) return [];
    if (scanner.isBlank(head.bytes)) continue;
    const cells = Array.from({ length: scanner.cells }, (_, c) => cellText(head.bytes, scanner, c).trim());
    const typed = cells.map((text, c) => {
      const sort = text === "" ? Sort.text : formOfCell(head.bytes, scanner.starts[c]!, scanner.ends[c]!, point);
      return sort === Sort.text ? parseAngle(text, "east") !== null : sort !== Sort.blank;
    });
    rows.push({ from: at, cells, typed, filled: cells.filter((text) => text !== "").length });
  }
  return rows;
}

/** The number of filled cells that most rows have. */
function mostFilled(rows: readonly Row[]): number {
  const counts = new Map<number, number>();
  for (const { filled } of rows) counts.set(filled, (counts.get(filled) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

const isMissingCell = (text: string | undefined) => !text || missingWords.has(text.toLowerCase());

/** The columns in which rows have numbers, dates or angles, and hardly anything else. */
function typedColumns(rows: readonly Row[], columns: number): number[] {
  return [...new Array(columns).keys()].filter((c) => {
    const filled = rows.filter(({ cells }) => !isMissingCell(cells[c]));
    const typed = filled.filter((row) => row.typed[c]).length;
    return typed > 0 && typed >= 0.9 * filled.length;
  });
}

const unitsAt = (rows: readonly Row[], row: number): boolean => {
  const { cells, filled } = rows[row]!;
  const below = rows.slice(row + 1);
  if (filled === 0 || below.length === 0 || !cells.every(isUnit)) return false;
  return typedColumns(below, cells.length).some((c) => !isMissingCell(cells[c]));
};

/**
 * Whether a row names the columns for certain: all of its cells are words, each once, it has as many as most rows below
 * it, and where these have numbers it has a name. Rows above it have half as many cells at most, or are comments; a row
 * with more of them is a heading of groups where at least two columns of numbers have their names below it.
 */
function isHeaderAt(rows: readonly Row[], at: number): boolean {
  const { cells, filled, typed } = rows[at]!;
  const below = rows.slice(unitsAt(rows, at + 1) ? at + 2 : at + 1);
  const most = mostFilled(below);
  if (most < 2 || filled < most || typed.includes(true)) return false;
  const names = cells.filter((text) => text !== "");
  if (new Set(names).size < names.length || cells.every(isUnit)) return false;
  const columns = typedColumns(below, cells.length);
  if (columns.length === 0 || columns.some((c) => isMissingCell(cells[c]))) return false;
  return rows.slice(0, at).every((row) => {
    if (row.cells[0]!.startsWith("#") || 2 * row.filled <= most) return true;
    return row.filled < most && columns.length > 1 && !row.typed.includes(true);
  });
}

const firstWords = ({ cells }: Row) => someNames(cells.filter((text) => text !== "").map((text) => text.slice(0, 40)));

function headerIn(head: Head, delimiter: number, isOther: boolean): FoundHeader | null {
  const rows = rowsOf(head, delimiter);
  const isFirst = rows.length > 2 && !rows[0]!.typed.includes(true) && unitsAt(rows, 1) && isHeaderAt(rows, 0);
  let at = isFirst ? 0 : 1;
  const last = Math.min(mostAbove, rows.length - 2);
  while (!isFirst && at <= last && !isHeaderAt(rows, at)) at++;
  if (at > last && !isFirst) return null;
  const below = rows.slice(at + 1);
  const alike = below.filter(({ cells }) => cells.length === rows[at]!.cells.length).length;
  if (isOther && alike < 0.9 * below.length) return null;
  const notices: Notices = [];
  const say = (what: string) => notices.push(["header-assumed", undefined, what]);
  if (at > 0) {
    const rest = at > 1 ? ` and ${at - 1} more above it` : " above it";
    say(
      `row ${at + 1}, ${firstWords(rows[at]!)}, was taken for the names of the columns; ${firstWords(rows[0]!)}${rest} was left out; --in skip-lines=0 begins with the first row`,
    );
  }
  const hasUnits = unitsAt(rows, at + 1);
  if (hasUnits)
    say(
      `the row below the names, ${firstWords(rows[at + 1]!)}, was taken for units; --in header=yes takes it for data`,
    );
  return { delimiter, from: rows[at]!.from, last: rows[hasUnits ? at + 1 : at]!.from, notices };
}

/** The header below the first row, or above units; null where the first row is as good a guess. */
export function findHeader(head: Head, guess: Guess, isGiven: boolean): FoundHeader | null {
  const found = headerIn(head, guess.delimiter, false);
  if (found || isGiven || (guess.columns > 1 && guess.share >= 0.5)) return found;
  for (const delimiter of delimiters) {
    const other = delimiter === guess.delimiter ? null : headerIn(head, delimiter, true);
    if (other) return other;
  }
  return null;
}

/** A row that has names of coordinates and was taken for data. */
export function unusedHeader(head: Head, delimiter: number, isHeader: boolean): Notices[number] | null {
  const others = delimiters.filter((other) => other !== delimiter);
  for (const one of [delimiter, ...others]) {
    for (const [at, { from, cells }] of rowsOf(head, one).slice(0, mostAbove).entries()) {
      const isRead = one === delimiter && at === 0 && isHeader;
      const [pair] = isRead ? [] : pairsByName(cells);
      if (!pair || pair.strength <= Strength.weak) continue;
      const lines = head.bytes.toString("latin1", 0, from).split(/\r\n|\n|\r/).length - 1;
      const names = `"${cells[pair.x]}" and "${cells[pair.y]}"`;
      const option = one === delimiter ? "" : ` --in "delimiter=${String.fromCharCode(one)}"`.replace("\t", "tab");
      const remedy = `--in skip-lines=${lines + head.lines - head.ownLines} --in header=yes${option}`;
      return [
        "coordinates-left-out",
        undefined,
        `row ${at + 1} has names of coordinates, ${names}, but was not taken for the header; ${remedy} reads it so`,
      ];
    }
  }
  return null;
}
